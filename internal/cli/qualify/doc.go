// Package qualify finds out what two ports of this machine, their driver and the cable between them can do as a
// generator's ports, and what they hide.
//
//	inspect ─▶ cable ─▶ rates ─▶ overload ─▶ answers ─▶ weaknesses ─▶ page, document
//	  reads     each       by each  frames       limits      rules
//	  facts     way        path     counted      drawn
//
// It sends over the two named ports alone, each step for a few seconds at most. All that it puts on a port belongs to
// descriptors of this process, and is gone when it ends, however it ends; a port that was down is set down again.
package qualify
