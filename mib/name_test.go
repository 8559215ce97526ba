// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"strings"
	"testing"

	"github.com/pnagent/pnagent/petri"
)

func TestADescriptorIsMadeFromTheNameElseTheID(t *testing.T) {
	for _, c := range []struct{ id, name, want string }{
		{"awaitingPayment", "", "awaitingPayment"},
		{"p7", "Awaiting payment", "awaitingPayment"},
		{"Await_payment-2", "", "awaitPayment2"},
		{"ID", "", "id"},
		{"HTTPServer", "", "httpServer"},
		{"HTTP server", "", "httpServer"},
		{"1st", "", "place1st"},
		{"Überweisung prüfen", "", "uberweisungPrufen"},
		{"the customer's order", "", "theCustomersOrder"},
		{"付款", "", "u4ed8U6b3e"},
		{"大きさ", "", "u5927KiSa"},
		{"カード払い", "", "kaDoU6255I"},
		{"оплата", "", "oplata"},
		{"Ожидание ОПЛАТЫ", "", "ozhidanieOPLATY"},
		{"Щ", "", "shch"},
		{"Πληρωμή", "", "pliromi"},
		{"결제 대기", "", "gyeoljeDaegi"},
		{"Łódź", "", "lodz"},
		{"Straße", "", "strasse"},
		{"e\u0301te\u0301", "", "ete"},
		{"😀 paid", "", "u1f600Paid"},
		{"½", "", "place12"},
		{"wait", "–", "wait"},
		{"", "", "place1"},
		{"\x00\xff\n", "", "place1"},
		{"end", "", "end"}, // n1xEnd is no keyword
		{"Counter32", "", "counter32"},
		{"placeTokens", "", "placeTokens"},
		{"pnPlaceTokens", "", "pnPlaceTokens"},
		{"places", "", "placesPlace"}, // n1xPlaces is a node of the module
		{strings.Repeat("abc", 100), "", "abcabcabcabcabcabcabcaCabcabcabcabcabcabcabc"},
		{"p", "Waiting for the second approval of the loan by officer A", "waitingForTheSecondOfTheLoanByOfficerA"},
		{"p", "Waiting for the second approval of the loan by officer B", "waitingForTheSecondOfTheLoanByOfficerB"},
		{"p", "theVeryLongIdentifierOfAPlaceThatWaitsForTheApprovalByOfficerA", "theVeryLongIdentifierTheApprovalByOfficerA"},
		{"p", "Score the customer → Archive", "scoreTheCustomerToArchive"},
		{"p", "Score the customer for the second time → Archive the papers of the case", "scoreTheTheSecondTimeToArchiveTheOfTheCase"},
		{"p", " → Archive", "archive"},
	} {
		n := assign(t, NewLock(), &petri.Net{ID: "n", Places: []petri.Place{{ID: c.id, Name: c.name}}})
		if got := n.Place(c.id).Descriptor; got != c.want {
			t.Errorf("%q (%q) is %s, want %s", c.id, c.name, got, c.want)
		}
	}
}

// What letters are called has hyphens and spaces; a word has letters and digits only.
func TestEveryCharacterIsWrittenInLettersAndDigits(t *testing.T) {
	for r := range rune(0x20000) {
		for _, w := range wordsOf(string(r)) {
			if w == "" || !only(w, func(c byte) bool { return isLower(c) || isUpper(c) || isDigit(c) }) {
				t.Errorf("%U became %q", r, w)
			}
		}
	}
}

func TestCollidingDescriptorsAreMadeUnique(t *testing.T) {
	n := assign(t, NewLock(), &petri.Net{
		ID: "n",
		Places: []petri.Place{{ID: "ship"}, {ID: "Ship"}, {ID: "SHIP"}, {ID: "sHip"}, {ID: "shiP"}, {ID: "sh-ip"}, {ID: "ship tokens"}, {ID: "x"},
			{ID: "y tokens"}, {ID: "y"}, {ID: "n-places"}, {ID: "Cart"}, {ID: "cart"}, {ID: "p1", Name: "To pay"}, {ID: "p2", Name: "To pay"}},
		Transitions: []petri.Transition{{ID: "ship!"}, {ID: "x."}, {ID: "X"}},
	})
	for id, want := range map[string]string{
		"ship": "ship", "Ship": "shipCapital", "SHIP": "shipCapitals", "sHip": "sHipMixed", "shiP": "shiPPlace", "sh-ip": "shIp2",
		"ship tokens": "shipTokensPlace", "x": "x", "y tokens": "yTokens", "y": "yPlace", "n-places": "nPlaces", "Cart": "cart", "cart": "cartSmall",
		"p1": "toPay", "p2": "toPayPlace",
	} {
		if got := n.Place(id).Descriptor; got != want {
			t.Errorf("place %q is %s, want %s", id, got, want)
		}
	}
	for id, want := range map[string]string{"ship!": "shipTransition", "x.": "xTransition", "X": "xCapital"} {
		if got := n.Transition(id).Descriptor; got != want {
			t.Errorf("transition %q is %s, want %s", id, got, want)
		}
	}
}

// A later version of a net finds the texts of the names that it has already.
func TestCapitalsOfALaterVersionAreNamed(t *testing.T) {
	lock := NewLock()
	assign(t, lock, &petri.Net{ID: "n", Places: []petri.Place{{ID: "pay"}}})
	lock = parse(t, string(lock.Text()))
	n := assign(t, lock, &petri.Net{ID: "n", Places: []petri.Place{{ID: "pay"}, {ID: "Pay"}}})
	if got := n.Place("Pay").Descriptor; got != "payCapital" {
		t.Errorf("Pay is %s", got)
	}
}

func TestAModuleIsNamedAfterItsNet(t *testing.T) {
	lock := NewLock()
	for _, c := range []struct{ id, name, want string }{
		{"order-fulfilment", "", "ORDER-FULFILMENT-PN-MIB"},
		{"orderFulfilment", "", "ORDER-FULFILMENT-2-PN-MIB"},
		{"n1", "Order fulfilment", "ORDER-FULFILMENT-3-PN-MIB"},
		{"3d", "", "NET-3D-PN-MIB"},
		{"from here", "", "NET-FROM-HERE-PN-MIB"},
		{"", "", "NET-6-PN-MIB"},
		{"付款", "", "U4ED8-U6B3E-PN-MIB"},
		{strings.Repeat("abcd ", 50), "", "ABCD-ABCD-ABCD-ABCD-ABCD-PN-MIB"},
		{strings.Repeat("abcd-", 50), "", "ABCD-ABCD-ABCD-ABCD-2-PN-MIB"},
		{"The third step of the approval of loans, north", "", "THE-THIRD-OF-LOANS-NORTH-PN-MIB"},
		{"Согласование", "", "SOGLASOVANIE-PN-MIB"},
		{"petrinet", "", "PETRINET-PN-MIB"},
	} {
		if got := assign(t, lock, &petri.Net{ID: c.id, Name: c.name}).Module; got != c.want || len(got) > maxModule {
			t.Errorf("%q (%q) is %s, want %s", c.id, c.name, got, c.want)
		}
	}
}

// Were one suffix the end of another, two places could make one name although
// their descriptors are unique.
func TestNoSuffixIsTheEndOfAnother(t *testing.T) {
	all := suffixes()
	seen := map[string]bool{}
	for _, s := range all {
		seen[strings.ToLower(s)] = true
	}
	for s := range seen {
		if len(s) > maxSuffix {
			t.Errorf("%s is longer than %d", s, maxSuffix)
		}
		for o := range seen {
			if s != o && strings.HasSuffix(s, o) {
				t.Errorf("%s ends in %s", s, o)
			}
		}
	}
	for _, s := range moduleWords() {
		if len(s) > maxSuffix {
			t.Errorf("%s is longer than %d", s, maxSuffix)
		}
	}
}

func TestManyPlacesOfOneNameAreNumberedFast(t *testing.T) {
	def := &petri.Net{ID: "n"}
	for i := range 20_000 {
		def.Places = append(def.Places, petri.Place{ID: strings.Repeat("x", 1+i%7) + string(rune(0x4e00+i)), Name: "Waiting for the customer to come"})
	}
	n := assign(t, NewLock(), def)
	seen := map[string]bool{}
	for _, e := range n.Places() {
		seen[strings.ToLower(e.Descriptor)] = true
	}
	if len(seen) != len(n.Places()) {
		t.Errorf("%d descriptors for %d places", len(seen), len(n.Places()))
	}
}
