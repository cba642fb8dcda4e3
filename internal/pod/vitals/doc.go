// Package vitals serves the vital signs of a device's machine over the pods' network. They are how its
// processors spend their time, and what a Reference's limit counted. The device's pod, or a pod beside it,
// serves them, and the runner asks for them while traffic runs.
//
//	runner ── GET /vitals?signs=Memory,Load, eight times a second ─▶ server, on one address of its pod's
//	       ◀── Reading, as JSON ──
//
// The same server passes on a collector's answers (package collect), and resets the device (package reset),
// where the test asks for it. In a test's pods it serves only clients that prove the attempt's key (package
// credential). The command linerate vitals may serve everybody, as all that it shows is how busy a machine is.
package vitals
