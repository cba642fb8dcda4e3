// Package trains is the procedure Trains: how long a device works on a frame, by groups of frames that enter it back to
// back. The device works a group off at its own speed, and the spacing in which its frames leave is the time per frame.
// The generator need not be faster than the device for longer than a group lasts.
package trains
