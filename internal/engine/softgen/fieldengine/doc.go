// Package fieldengine plays a stream's field engine: it compiles the template and the program of variables, writes and checksum fixes
// that travel in TRex's add_stream into a pure function from a frame's index to its bytes.
//
// Because frame i depends on nothing but i, any number of threads may share a stream: thread k of n plays the frames k, k+n, k+2n, …
// and together they send exactly the frames, in the order in time, that one thread would. TRex splits a variable's range between its
// cores instead; the union is the same.
package fieldengine
