// SPDX-License-Identifier: Apache-2.0

package diagram

// eventIcons are the paths of the markers of events, by their kind, in a square of 36.
var eventIcons = map[string]string{
	"message":          "M9.5 12H26.5V24.5H9.5zM9.5 12 18 19 26.5 12",
	"timer":            "M18 8A10 10 0 1 1 17.99 8zM18 11.5V18L22 21.5M18 8V10M18 26V28M8 18H10M26 18H28",
	"signal":           "M18 9.5 26.5 24H9.5z",
	"conditional":      "M11 9.5H25V26.5H11zM13.5 13H22.5M13.5 16.3H22.5M13.5 19.7H22.5M13.5 23H22.5",
	"error":            "M9.5 26 14.5 11 20.5 19 26.5 10 22 25 15.5 17.5z",
	"escalation":       "M18 8.5 25 26 18 19.5 11 26z",
	"link":             "M9 14.8H19V10L27.5 18 19 26V21.2H9z",
	"compensate":       "M17 11V25L8.5 18zM26 11V25L17.5 18z",
	"cancel":           "M12.2 9.8 18 15.6 23.8 9.8 26.2 12.2 20.4 18 26.2 23.8 23.8 26.2 18 20.4 12.2 26.2 9.8 23.8 15.6 18 9.8 12.2z",
	"terminate":        "M18 8.5A9.5 9.5 0 1 1 17.99 8.5z",
	"multiple":         "M18 8.5 27 15.3 23.6 26H12.4L9 15.3z",
	"parallelMultiple": "M15.6 9H20.4V15.6H27V20.4H20.4V27H15.6V20.4H9V15.6H15.6z",
}

// gatewayIcon returns the path of the marker of a gateway, in a square of 50, and whether its lines are bold.
func gatewayIcon(s *Shape) (path string, bold bool) {
	switch s.Kind {
	case "exclusiveGateway":
		if s.Marker {
			return "M18.5 17 31.5 33M31.5 17 18.5 33", true
		}
	case "parallelGateway":
		return "M25 13.5V36.5M13.5 25H36.5", true
	case "inclusiveGateway":
		return "M25 14A11 11 0 1 1 24.99 14z", true
	case "complexGateway":
		return "M25 13V37M13 25H37M16.5 16.5 33.5 33.5M33.5 16.5 16.5 33.5", true
	case "eventBasedGateway":
		ring := "M25 11A14 14 0 1 1 24.99 11z"
		switch {
		case s.ParallelGate:
			return ring + "M22.8 16.5H27.2V22.8H33.5V27.2H27.2V33.5H22.8V27.2H16.5V22.8H22.8z", false
		case !s.Instantiates:
			ring += "M25 13.5A11.5 11.5 0 1 1 24.99 13.5z"
		}
		return ring + "M25 17.5 32 22.7 29.3 31H20.7L18 22.7z", false
	}
	return "", false
}

// taskIcons are the paths of the markers of tasks, by their kind, in a square of 16.
var taskIcons = map[string]string{
	"userTask":         "M8 1.5A3 3 0 1 1 7.99 1.5zM2 15V12.5Q2 8.8 8 8.8T14 12.5V15z",
	"serviceTask":      "M8 3.6A4.4 4.4 0 1 1 7.99 3.6zM8 6.4A1.6 1.6 0 1 1 7.99 6.4zM8 3.6V1M8 15V12.4M3.6 8H1M15 8H12.4M4.9 4.9 3 3M11.1 11.1 13 13M4.9 11.1 3 13M11.1 4.9 13 3",
	"sendTask":         "M1 3H15V13H1zM1 3 8 9 15 3",
	"receiveTask":      "M1 3H15V13H1zM1 3 8 9 15 3",
	"scriptTask":       "M5 1.5H14Q10.5 5 12.5 8T11 14.5H2Q5.5 11 3.5 8T5 1.5zM6 4.8H10.5M5.5 8H10.5M6 11.2H10",
	"manualTask":       "M1 8.5 6 3.5Q7.8 3 7.2 5L6 6.5H13.5Q15 7.2 13.5 8.2H9.5M13.5 8.2Q15 9.2 13.3 10H9.5M13.3 10Q14.4 11 12.7 11.7H9.5M12.7 11.7Q13.2 13.2 11.5 13.3H6.5Q3 13.3 1 11.5z",
	"businessRuleTask": "M1 2.5H15V13.5H1zM1 6H15M1 9.8H15M5.5 6V13.5M1 4.2H15",
}

// markersOf returns the paths of the markers at the bottom of an activity, each in a square of 14.
func markersOf(s *Shape) (paths []string) {
	switch s.Loop {
	case "loop":
		paths = append(paths, "M5 12.3A5.5 5.5 0 1 1 9.5 12M5.2 9V12.5H1.8")
	case "parallel":
		paths = append(paths, "M3 1.5V12.5M7 1.5V12.5M11 1.5V12.5")
	case "sequential":
		paths = append(paths, "M1.5 3H12.5M1.5 7H12.5M1.5 11H12.5")
	}
	if s.AdHoc {
		paths = append(paths, "M1 9Q3.8 3 7 7T13 5")
	}
	if s.Compensation {
		paths = append(paths, "M7 2.5V11.5L1 7zM13 2.5V11.5L7 7z")
	}
	if (isSub(s.Kind) || s.Kind == "callActivity" && !s.CallsTask) && !s.Expanded {
		paths = append(paths, "M.5 .5H13.5V13.5H.5zM7 3V11M3 7H11")
	}
	return paths
}
