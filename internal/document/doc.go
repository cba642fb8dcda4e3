// Package document holds the packages of the documents that linerate reads and writes, as plain data. They are
// versioned JSON, and the ways in which it travels. All but intake and configmaps is pure, without clock, client,
// file or randomness.
//
//	plan         the Plan: all that repeats a run. Sender, a kind of traffic and an engine, is the key of the lists of engines
//	report       the Report: all that was measured; and the documents made of Reports (suite, table, comparison, trend, gate)
//	profile      traffic profiles, which become streams
//	stream       TRex's stream objects, as they travel; the Internet checksum
//	delivery     how Plan, Progress and Report travel in ConfigMaps: keys, signatures, digests, packing, bounds; configmaps writes the runner's
//	exit         errors that carry the exit code of a process; the codes are report's
//	intake       the door by which documents of others come in: bytes, depth, elements and memory are bounded before anything is decoded; yamltree is that for YAML
package document
