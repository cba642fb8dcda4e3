// Package latency adds trials after a procedure that has its result, at shares of the rate that it found or held, in
// which the latency of frames is measured. It is pure, as the procedure inside it is.
//
//	load ┤        the procedure              │ 0 %   │ 10 %  │ 50 %  │ 90 %  │ of its rate
//	     │  ┌──┐  ┌──┐┌──┐                   │       │       │       │ ┌───┐ │
//	     │  │  │┌─┘  └┘  └──── the rate ─────┤       │       │ ┌───┐ │ │   │ │
//	     └──┘  └┘                            │ . . . │ ┌───┐ │ │   │ │ │   │ │
//	                                         │ few   │ a trial each, drained before the next
package latency
