// Package procedure defines procedures. A procedure is the part of a measurement that decides which load comes next,
// and what the windows mean in the end. Each procedure is a package of its own that implements Procedure, as a pure
// function of its Plan and of the windows measured so far. A run can be replayed from its Report, and a decision can be
// tested without a generator. Package procedures chooses a procedure by its type.
//
//	       ┌────────────── history: one window for each step ◀─────────────┐
//	       ▼                                                               │
//	Procedure.Next ──▶ Step ──▶ runner: sets loads, waits, reads ──▶ measure.Window
//	       │ End
//	       ▼
//	Procedure.Conclude ──▶ Conclusion ──▶ analysis: report.Answer, verdict
//	                       reason, claims, figures of its own, estimates, windows, sections
//
// What a procedure alone shows it lays out itself, as report.Sections: tables and plots that every format draws alike.
// What others must know of it is in its Traits. So one procedure is known in its package, the API, the Plan's
// parameters, compile and the registry, and TestAProcedureIsKnownInItsOwnRoomAlone allows six such files.
//
// The packages below:
//
//	procedures    finds a Plan's procedure by its type; no other package names one
//	ramp, constantload, frameloss, maximumload, backtoback, search, soak, trains    a procedure each
//	eachdirection, latency, profile    play another one for each direction; add trials for latency; add one to sample
//	              the device's processors
//	goals         which load a search tries next: multiple loss ratio search
//	losscurve     which load loses a small share of frames, by fitted curves
package procedure
