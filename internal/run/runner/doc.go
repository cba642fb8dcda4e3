// Package runner carries out a Plan's procedure with the driver it is given, and always returns a Report. What it does next is decided by the procedure, what
// the windows mean by analysis; how a step is carried out, and what a window is worth, is the driver's affair: frames, or another kind of traffic.
//
//	Prepare ─▶ procedure.Next ─▶ Take ─▶ window ─┐ ─▶ Stop ─▶ Release ─▶ analysis ─▶ Report
//	   │             ▲─────────────────────────────┘    ▲
//	   └── it fails, or ctx ends ───────────────────────┘
package runner
