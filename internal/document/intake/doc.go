// Package intake is the door by which documents come in that others may have written, in files, on standard input,
// in ConfigMaps and annotations. It bounds how many bytes are read, packed and unpacked. It reads a document once,
// byte by byte, to find out how deep it is nested, how many elements it has, and how much memory it will take,
// before a decoder allocates any of that:
//
//	file ──Read──▶ at most so many bytes ──JSON──▶ weighed against the type that it becomes ──▶ decoded
//
// Two bytes of text may become a thousand of memory, so 17 kB packed are six million empty windows. Code that
// decodes elsewhere needs a reason in this package's test.
package intake
