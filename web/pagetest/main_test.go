// SPDX-License-Identifier: Apache-2.0

//go:build peers

package pagetest

import (
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pnagent/pnagent/internal/browsertest"
)

// TestMain sets the time zone of the browser to one in which it is about noon: the page writes a
// moment of another day with its date, and no moment of these tests is of one. The tests
// mostly wait, so more of them run in parallel.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	if err := os.Setenv("TZ", fmt.Sprintf("Etc/GMT%+d", time.Now().UTC().Hour()-12)); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// rule is what the page keeps, in tabs of a browser.
type rule struct {
	name  string
	holds func(*testing.T, *browsertest.Browser)
}

// TestThePage keeps each rule in a tab of one browser.
func TestThePage(t *testing.T) {
	chromium := browsertest.Start(t)
	for _, r := range alone() {
		t.Run(r.name, func(t *testing.T) { r.holds(t, chromium) })
	}
	for _, r := range beside() {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			r.holds(t, chromium)
		})
	}
}

// alone are the rules of the clipboard, which tabs share.
func alone() []rule {
	return []rule{
		{"a link is copied, also without a secure context", aLinkIsCopied},
	}
}

// beside are the rules that are looked at side by side.
func beside() []rule {
	return []rule{
		{"home has all nets, the worst first", homeHasAllNetsTheWorstFirst},
		{"search finds what is in other nets", searchFindsWhatIsInOtherNets},
		{"equal alarms are one line", equalAlarmsAreOneLine},
		{"a hint is dismissed once", aHintIsDismissedOnce},
		{"every kind of page on every screen", everyKindOfPageOnEveryScreen},
		{"the stuck place of a net is seen", theStuckPlaceOfANetIsSeen},
		{"regions are listed with their standbys", regionsAreListedWithTheirStandbys},
		{"the page is few requests and is kept", thePageIsFewRequestsAndIsKept},
		{"the drawing does not wait for numbers", theDrawingDoesNotWaitForNumbers},
		{"what BPMN needs is kept too", whatBPMNNeedsIsKeptToo},
		{"tokens move", tokensMove},
		{"nothing moves for who prefers that", nothingMovesForWhoPrefersThat},
		{"the stuck place is the hottest", theStuckPlaceIsTheHottest},
		{"finished work is no problem", finishedWorkIsNoProblem},
		{"tokens that may stay are no problem", tokensThatMayStayAreNoProblem},
		{"from a place to its oldest instance and its history", fromAPlaceToItsOldestInstanceAndItsHistory},
		{"a transition says why it waits", aTransitionSaysWhyItWaits},
		{"an alarm leads to its place", anAlarmLeadsToItsPlace},
		{"an alarm shows its severity and notes", anAlarmShowsItsSeverityAndNotes},
		{"alarms are acknowledged and silenced by buttons", alarmsAreAcknowledgedAndSilencedByButtons},
		{"a silence begins later or recurs", aSilenceBeginsLaterOrRecurs},
		{"unknown alarms stand apart", unknownAlarmsStandApart},
		{"unknown alarms are closed by a button", unknownAlarmsAreClosedByAButton},
		{"a silence never says over", aSilenceNeverSaysOver},
		{"a button fires after a confirmation", aButtonFiresAfterAConfirmation},
		{"all stuck instances are in pages", allStuckInstancesAreInPages},
		{"the drawer links to the runbook and the dashboard", theDrawerLinksToTheRunbookAndTheDashboard},
		{"a deadlocked net is one line", aDeadlockedNetIsOneLine},
		{"filters are in the address", filtersAreInTheAddress},
		{"places with alarms are named", placesWithAlarmsAreNamed},
		{"names and ages cover nothing", namesAndAgesCoverNothing},
		{"the slider goes to the past and back", theSliderGoesToThePastAndBack},
		{"all parts show one moment", allPartsShowOneMoment},
		{"late answers are not mixed in", lateAnswersAreNotMixedIn},
		{"both halves are of one time", bothHalvesAreOfOneTime},
		{"what is not kept is said", whatIsNotKeptIsSaid},
		{"play goes to now", playGoesToNow},
		{"play moves dots", playMovesDots},
		{"the past is compared with now", thePastIsComparedWithNow},
		{"the past cannot be changed", thePastCannotBeChanged},
		{"the slider spans days", theSliderSpansDays},
		{"marks show alarms", marksShowAlarms},
		{"the past on a phone", thePastOnAPhone},
		{"a link shows the same to another reader", aLinkShowsTheSameToAnotherReader},
		{"any address is harmless", anyAddressIsHarmless},
		{"back and forth restore what was seen", backAndForthRestoreWhatWasSeen},
		{"a link to this moment shows what its sender saw", aLinkToThisMomentShowsWhatItsSenderSaw},
		{"a link has the search and the part that is seen", aLinkHasTheSearchAndThePart},
		{"tables are saved as they are filtered", tablesAreSavedAsTheyAreFiltered},
		{"a picture is of what is seen", aPictureIsOfWhatIsSeen},
		{"a picture of a part and of a large net", aPictureOfAPartAndOfALargeNet},
		{"a picture of BPMN has its numbers", aPictureOfBPMNHasItsNumbers},
		{"listed origins may have the page for frames in one", listedOriginsMayHaveAFrame},
		{"a frame shows and does not act", aFrameShowsAndDoesNotAct},
		{"a frame with BPMN, the past and alarms", aFrameWithBPMNThePastAndAlarms},
		{"search jumps", searchJumps},
		{"all is reached with the keyboard", allIsReachedWithTheKeyboard},
		{"a key right after a dialog is for the page", aKeyRightAfterADialogIsForThePage},
		{"what is below the answer comes with it", whatIsBelowTheAnswerComesWithIt},
		{"dark and light", darkAndLight},
		{"names are only text", namesAreOnlyText},
		{"it goes on after a restart", itGoesOnAfterARestart},
		{"what is not there is said", whatIsNotThereIsSaid},
		{"each state has its words", eachStateHasItsWords},
		{"several states are in order", severalStatesAreInOrder},
		{"on a phone", onAPhone},
		{"the focus follows the drawer", theFocusFollowsTheDrawer},
		{"every scene is readable", everySceneIsReadable},
		{"axe finds nothing", axeFindsNothing},
		{"a small map shows where the reader is", aSmallMapShowsWhereTheReaderIs},
		{"what is quiet is collapsed", whatIsQuietIsCollapsed},
		{"the neighbourhood of a node is a link", theNeighbourhoodOfANodeIsALink},
		{"search goes to a node in a large net", searchGoesToANodeInALargeNet},
		{"the hand moves and scales the drawing", theHandMovesAndScalesTheDrawing},
		{"dots are as many as firings", dotsAreAsManyAsFirings},
		{"numbers are written for people", numbersAreWrittenForPeople},
		{"a net from BPMN is shown as BPMN", aNetFromBPMNIsShownAsBPMN},
		{"an element leads to its place", anElementLeadsToItsPlace},
		{"the neighbourhood of an element is shown in the net", theNeighbourhoodOfAnElementIsShownInTheNet},
		{"a place inside is shown where it is", aPlaceInsideIsShownWhereItIs},
		{"elements are reached with the keyboard", elementsAreReachedWithTheKeyboard},
		{"frames keep the elements of the page", framesKeepTheElementsOfThePage},
		{"the past and alarms are shown in BPMN", thePastAndAlarmsAreShownInBPMN},
		{"BPMN in the dark and on a phone", bpmnInTheDarkAndOnAPhone},
		{"a file that cannot be drawn leaves the net", aFileThatCannotBeDrawnLeavesTheNet},
		{"names in BPMN are only text", namesInBPMNAreOnlyText},
		{"dots move along sequence flows", dotsMoveAlongSequenceFlows},
		{"the neighbourhood of the element at the cursor is shown", theNeighbourhoodOfTheElementAtTheCursorIsShown},
		{"a large file is drawn when the reader asks", aLargeFileIsDrawnWhenTheReaderAsks},
		{"a process of sixty elements can be read", aProcessOfSixtyElementsCanBeRead},
		{"elements have the numbers of their rows", elementsHaveTheNumbersOfTheirRows},
		{"other nets load nothing for BPMN", otherNetsLoadNothingForBPMN},
		{"shapes are where their authors put them", shapesAreWhereTheirAuthorsPutThem},
		{"colours of authors let all be seen", coloursOfAuthorsLetAllBeSeen},
		{"a thousand nodes follow the hand", aThousandNodesFollowTheHand},
		{"large nets fill the view and are moved at speed", largeNetsFillTheView},
		{"memory of a large net does not grow", memoryOfALargeNetDoesNotGrow},
		{"no frames while nothing changes", noFramesWhileNothingChanges},
		{"files of MIWG beside their published pictures", filesOfMIWGBesideTheirPublishedPictures},
	}
}
