// Package burstiness says how evenly frames arrive: a program in the kernel records when each frame came, and
// what is made of these times is pure.
//
//	sender ─── g0 ═══ d0 ─▶ Recorder: the time of each frame ─▶ Judge ─▶ the smallest queue that loses none, and the gaps
//
// A device that is as fast as a load still loses frames of it where they come in bursts that its queue can't
// hold. So the figure is that queue: the smallest one, in frames, that a device which is 1 % faster than the
// load needs to lose none of them.
//
//	frames    │ │ │ ││││   │ │ │       came
//	waiting   1 1 1 1234321 1 1 1       a queue of 4 frames is the smallest that loses none
//
// While the host of a virtual machine has its processors, nothing can be sent on time. Such stretches aren't
// judged, and are counted (WatchStolen).
package burstiness
