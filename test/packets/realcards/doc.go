// Package realcards shows what only a network card with virtual functions shows. It plays on emulated machines with
// Intel's 82576 and the kernel's own drivers (test/rigs/machine). Each row breaks one thing of a lab that works, asks
// linerate doctor and a test for the cause, does what doctor says, and asks again. The rows share two machines, as each
// takes half a minute to start. They belong to the full tier (make cards).
package realcards
