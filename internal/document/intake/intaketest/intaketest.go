package intaketest

import (
	"runtime"
	"strings"
)

// Bombs are documents of about so many bytes that begin with a text and end with another, of which one has a list
// of as many elements as fit between, and the other is as deep.
func Bombs(bytes int, begin, end string) map[string]string {
	return map[string]string{
		"wide": begin + strings.Repeat("{},", bytes/3) + "{}" + end,
		"deep": begin + strings.Repeat("[", bytes/2) + strings.Repeat("]", bytes/2) + end,
	}
}

// Allocated is how many bytes something takes, whether they are given back or not.
func Allocated(fn func()) uint64 {
	var earlier, later runtime.MemStats
	runtime.ReadMemStats(&earlier)
	fn()
	runtime.ReadMemStats(&later)
	return later.TotalAlloc - earlier.TotalAlloc
}

// Live is how many bytes what something returns takes for as long as it is kept.
func Live(fn func() (live any)) int64 {
	var earlier, later runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&earlier)
	live := fn()
	runtime.GC()
	runtime.ReadMemStats(&later)
	runtime.KeepAlive(live)
	return int64(later.HeapAlloc) - int64(earlier.HeapAlloc)
}
