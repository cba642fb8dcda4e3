package main

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestInotifyLimitsAreChecked(t *testing.T) {
	t.Run("two instances are left on a machine that works", func(t *testing.T) {
		if err := roomToWatch(2, openInotify); err != nil {
			t.Error(err)
		}
	})
	t.Run("the error says how many are left, and the way out", func(t *testing.T) {
		left := 3
		open := func() (int, error) {
			if left == 0 {
				return -1, unix.EMFILE
			}
			left--
			return openInotify()
		}
		err := roomToWatch(4, open)
		if err == nil || !strings.Contains(err.Error(), "only 3 inotify instances") || !strings.Contains(err.Error(), "sysctl -w fs.inotify.max_user_instances") {
			t.Errorf("3 left of 4: %v", err)
		}
	})
}
