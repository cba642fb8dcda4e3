// Package trains computes from trains of frames the time that a device takes for a frame. It has no clock and sends
// nothing.
package trains
