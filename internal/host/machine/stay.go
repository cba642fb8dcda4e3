package machine

import (
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// home is where this process's threads may run while nobody restricts them.
var home struct {
	mutex sync.Mutex // guards stays and allowed
	stays int
	// allowed are the processors that the first stay found.
	allowed *unix.CPUSet
}

// StayOn keeps all threads of this process on these processors until release is called. Where several callers keep the
// process at the same time, the first caller's processors count, and the last release lets the process go.
func StayOn(processors ...int) (release func() error, err error) {
	home.mutex.Lock()
	defer home.mutex.Unlock()
	if home.stays == 0 {
		if home.allowed, err = OwnProcessors(); err != nil {
			return nil, err
		}
		if err := BindProcess(os.Getpid(), processors...); err != nil {
			return nil, err
		}
	}
	home.stays++
	return leave, nil
}

func leave() error {
	home.mutex.Lock()
	defer home.mutex.Unlock()
	if home.stays--; home.stays > 0 {
		return nil
	}
	if err := BindProcess(os.Getpid(), ListProcessors(home.allowed)...); err != nil {
		return fmt.Errorf("let this process run where it did: %w", err)
	}
	return nil
}
