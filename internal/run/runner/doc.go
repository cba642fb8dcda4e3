// Package runner carries out a Plan's procedure with the driver it is given, and always returns a Report. The
// procedure decides what comes next, and analysis what the windows mean. The driver, of frames or of another kind of
// traffic, decides how a step is carried out and what a window is worth.
//
//	Prepare ─▶ procedure.Next ─▶ Measure ─▶ window ─┐ ─▶ Stop ─▶ Release ─▶ analysis ─▶ Report
//	   │             ▲────────────────────────────────┘    ▲
//	   └── it fails, or ctx ends ──────────────────────────┘
package runner
