package goals

import "testing"

// A target is found once its bounds are no further apart than its width, or there is nothing to try beyond one of them.
func TestBoundsAreEnoughAtTheWidthThatIsAsked(t *testing.T) {
	const width, top = 2, 10
	for b, want := range map[bounds]bool{
		{absent, absent}: false, {3, 5}: true, {3, 6}: false, {4, 5}: true, {absent, 3}: false, {absent, 0}: true,
		{top - 1, absent}: false, {top, absent}: true,
	} {
		if got := b.closeEnough(width, top); got != want {
			t.Errorf("%+v: %v, want %v", b, got, want)
		}
	}
}
