// Package realtrex asks a TRex that really runs whether it answers as internal/trex expects: what the scripted server plays is compared with
// what it stands for. It is built with the tag trex only, as the project brings no TRex along:
//
//	go test -tags trex ./test/realtrex -server 127.0.0.1:4501 -record /tmp/trex.jsonl
//
// The server's ports 0 and 1 must be free and idle, with a device between them that forwards by IPv4: 198.18.0.1/24 and 16.0.0.0/24 behind
// 198.18.0.2 on port 0, 198.18.1.1/24 and 48.0.0.0/24 behind 198.18.1.2 on port 1. A few thousand frames are sent. What is said on the
// wire is recorded, an exchange a line, as internal/trex/testdata has it. With -link-down and -link-up, shell commands that take the link of
// port 0 down and up again at its other end, events of links are tried too.
package realtrex
