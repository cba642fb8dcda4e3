// Package observe makes something of what is read beside the traffic: of two readings of a machine, what disturbed those on it who carry frames or send them.
// It is pure; package processors reads.
package observe
