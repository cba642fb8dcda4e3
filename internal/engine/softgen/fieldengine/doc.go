// Package fieldengine plays a stream's field engine. It compiles the template and the program of variables, writes
// and checksum fixes that travel in TRex's add_stream into a pure function from a frame's index to its bytes.
//
// Because frame i depends on nothing but i, any number of threads may share a stream. Thread k of n plays
// the frames k, k+n, k+2n, … and together the threads send exactly the frames, in the order in time, that
// one thread would. TRex splits a variable's range between its cores instead, and the union is the same.
package fieldengine
