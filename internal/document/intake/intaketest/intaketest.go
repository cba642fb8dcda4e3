package intaketest

import (
	"runtime"
	"strings"
)

// Bombs are documents of about so many bytes that begin with a text and end with another, of which one has a list of as many elements as fit between, and the other is as deep.
func Bombs(bytes int, begin, end string) map[string]string {
	return map[string]string{
		"wide": begin + strings.Repeat("{},", bytes/3) + "{}" + end,
		"deep": begin + strings.Repeat("[", bytes/2) + strings.Repeat("]", bytes/2) + end,
	}
}

// Allocated is how many bytes something takes, whether they are given back or not.
func Allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Live is how many bytes what something returns takes for as long as it is kept.
func Live(do func() (kept any)) int64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	kept := do()
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(kept)
	return int64(after.HeapAlloc) - int64(before.HeapAlloc)
}
