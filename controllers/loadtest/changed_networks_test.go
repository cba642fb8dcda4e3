package loadtest

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/linerate-dev/linerate/internal/compile"
)

func TestANetworkThatChangesTwentyTimesASecondWakesItsTestsOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hostile, innocent := compile.NetworkKey{Namespace: "hostile", Name: "west"},
			compile.NetworkKey{Namespace: "lab", Name: "west"}
		woken := map[compile.NetworkKey]int{}
		var lastWake time.Time
		var changed *changedNetworks
		wake := make(chan struct{}, 1)
		changed = newChangedNetworks(func() { wake <- struct{}{} })
		go func() {
			for range wake {
				for network := range changed.take() {
					woken[network]++
					lastWake = time.Now()
				}
			}
		}()
		for range 100 { // 5 s
			changed.add(hostile)
			time.Sleep(50 * time.Millisecond)
		}
		changed.add(innocent)
		synctest.Wait()
		if woken[innocent] != 1 || time.Since(lastWake) > 0 {
			t.Errorf("the tests of another namespace's network are woken %d times, the last time %s after it changed",
				woken[innocent], time.Since(lastWake))
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := woken[hostile]; n < 5 || n > 7 {
			t.Errorf("the tests are woken %d times", n)
		}
		if len(changed.later) > 0 {
			t.Errorf("%v is kept", changed.later)
		}
		changed.add(hostile)
		synctest.Wait()
		if time.Since(lastWake) > 0 {
			t.Errorf("after a pause its tests are woken %s late", time.Since(lastWake))
		}
		time.Sleep(time.Minute)
		close(wake)
	})
}
