// Package proceduretest carries procedures out against devices that are functions, without a generator and a
// clock. The procedures' tests share it.
package proceduretest
