// Package profile adds a trial after a procedure that has its answer, at the answer's load, in which the device's
// processors are sampled. The answer's own figures are of windows before it. It is pure, as the procedure inside it is.
package profile
