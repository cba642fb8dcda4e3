package exit

import (
	"os"
	"os/signal"
	"syscall"
)

// Signals are those by which a person, or who runs a pipeline, ends a program. The loss of the terminal is one but under nohup.
func Signals() []os.Signal {
	all := []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}
