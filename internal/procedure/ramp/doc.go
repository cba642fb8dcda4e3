// Package ramp decides the next load from the windows measured so far. It climbs a staircase up to the target, bisects
// below the point where frames are lost, and holds a long window at the answer. It is a pure function of procedure and
// history, so that a run can be replayed from its Report, and a decision can be tested without a generator.
//
//	load
//	target ┤                    ┌──  hold
//	       │                 ┌──┘  └┐     lossy ✗
//	       │         3 × ✗┌──┘      │    ┌─✗─┐
//	       │           ┌──┘         │ ┌──┘   └┐ ┌─ confirmed
//	       │        ┌──┘            └─┘       └─┘
//	       │     ┌──┘            bisection to refineTo
//	warm-up┤─────┘
//	       └──────────────────────────────────────────▶ time
//
// docs/search.md has the rules and their reasons.
package ramp
