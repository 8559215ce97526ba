// SPDX-License-Identifier: Apache-2.0

package dashboards

import "github.com/pnagent/pnagent/metrics"

func onePlace() Dashboard {
	return Dashboard{
		UID: uidPlace, File: "place.json", Title: brand + "Place",
		Description: "One place: how many tokens, how old, how long they stay, and which transitions wait for it.",
		Variables: []Variable{
			netVariable(false),
			{Name: "place", Title: "Place", From: of(metrics.PlaceTokens, thisNet)},
		},
		Rows: []Row{
			{Title: "Now", Panels: placeStats()},
			{Title: "Age", Panels: []Panel{oldestOver(), ladder("Age of tokens", "", of, thisSpot)}},
			{Title: "Flow", Panels: placeFlow()},
			{Title: "Dwell", Panels: []Panel{placeDwell(), dwellDistribution()}, Folded: true},
		},
	}
}

func placeStats() []Panel {
	one := func(expr string) string { return "max(" + expr + ")" }
	plain := []Step{{0, calm}}
	return []Panel{
		number("Oldest token", "Age of the oldest token in the place; 0 without one.", "s", one(of(metrics.PlaceOldestTokenAgeSeconds, thisSpot)), heat()),
		number("Active alarms", "Alarms of this place.", "short", orZero("count("+alarms(thisSpot)+")"), anyIsBad()),
		number("Tokens", "Tokens in the place.", "short", one(of(metrics.PlaceTokens, thisSpot)), plain),
		number("Instances", "Instances with a token in the place.", "short", one(of(metrics.PlaceInstances, thisSpot)), plain),
		number("Arrivals", "Tokens that arrive, per second.", each, one(rate(metrics.PlaceArrivalsTotal, thisSpot)), plain),
		number("Departures", "Tokens that depart, per second.", each, one(rate(metrics.PlaceDeparturesTotal, thisSpot)), plain),
	}
}

func oldestOver() Panel {
	p := side("Oldest token over time", "A line that rises by one second per second is a token that does not move; a fall is a token that has left.", "s",
		Query{"max(" + of(metrics.PlaceOldestTokenAgeSeconds, thisSpot) + ")", "oldest token"})
	p.Steps = heat()
	return full(p)
}

func placeFlow() []Panel {
	blocked := side("Transitions blocked by this place", "Instances in which a transition cannot fire because of this place: a token is missing, or a token inhibits it.", "short",
		called("transition", metrics.TransitionInfo, "("+orNone(most("transition, reason", of(metrics.TransitionBlockedInstances, thisSpot)), "transition")+")"))
	blocked.Queries[0].Legend += " {{reason}}"
	return []Panel{
		side("Tokens over time", "Tokens in the place, and instances with a token in it.", "short",
			Query{"max(" + of(metrics.PlaceTokens, thisSpot) + ")", "tokens"},
			Query{"max(" + of(metrics.PlaceInstances, thisSpot) + ")", "instances"}),
		side("Arrivals and departures", "Tokens that arrive and depart, per second. If arrivals are faster, tokens accumulate.", each,
			Query{"max(" + rate(metrics.PlaceArrivalsTotal, thisSpot) + ")", "arrivals"},
			Query{"max(" + rate(metrics.PlaceDeparturesTotal, thisSpot) + ")", "departures"}),
		full(blocked),
	}
}

// estimated describes percentiles of classic histograms.
const estimated = "Percentiles of classic histograms are estimates between bounds of which each is four times the one before; native histograms are finer."

func placeDwell() Panel {
	p := Panel{Title: "Dwell", Kind: Lines, Unit: "s", Width: 12, Height: 11,
		Description: "Dwell times of tokens that have left the place. Tokens that are still in it are not included, so there is no data until one has left: see the ages. " + estimated}
	for _, q := range []struct {
		quantile float64
		legend   string
	}{{0.5, "median"}, {0.9, "90th percentile"}, {0.99, "99th percentile"}} {
		p.Queries = append(p.Queries, Query{percentile(q.quantile, "place", metrics.PlaceDwellSeconds, thisSpot), q.legend})
	}
	return p
}

func dwellDistribution() Panel {
	classic := sum("le", increase(metrics.PlaceDwellSeconds+"_bucket", thisSpot))
	native := sum("", increase(metrics.PlaceDwellSeconds, thisSpot))
	some := " and on() (" + sum("", increase(metrics.PlaceDeparturesTotal, thisSpot)) + " > 0)"
	return Panel{Title: "Distribution of dwell", Kind: Heatmap, Unit: "s", Width: 12, Height: 11, Buckets: true,
		Description: "Number of tokens that left, by dwell time, over time. Two bands indicate two kinds of cases.",
		Queries:     []Query{{"(" + classic + " or " + native + ")" + some, "{{le}}"}}}
}
