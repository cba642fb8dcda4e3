// Package frameloss measures which share of frames a device loses at each of several loads (RFC 2544, section 26.3).
// Finite trials begin at the highest load and descend in steps. Once the device has lost nothing at some loads in
// succession, lower ones need no trial. The procedure searches for nothing, and its answer is a curve.
//
//	lost
//	60 % ┤                       ●  from
//	     │                  ●
//	20 % ┤             ●
//	     │        ●
//	 0 % ┼───●─●─────────────────▶ load really offered
//	       to  two successive loads without loss: the end
package frameloss
