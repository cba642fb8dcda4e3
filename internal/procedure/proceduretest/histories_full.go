//go:build full

package proceduretest

// histories: each is some hundred steps, and each step asks the procedure all that it can be asked: a minute of processor time, for all procedures.
const histories = 500
