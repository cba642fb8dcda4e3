package softgen

import "fmt"

// checkChains refuses a profile whose streams don't follow each other properly: each next stream must be there, enabled and of its
// predecessor's kind, a continuous stream has no end to follow, and every stream must be reached from one that starts by itself.
func checkChains(f *profile) error {
	for _, id := range f.ids() {
		if err := f.checkLink(id); err != nil {
			return err
		}
	}
	reached := map[uint32]bool{}
	for _, id := range f.ids() {
		if f.streams[id].stream.SelfStart {
			f.reach(id, reached)
		}
	}
	for _, id := range f.ids() {
		if f.streams[id].stream.Enabled && !reached[id] {
			return fmt.Errorf("error: stream %d is never reached from any stream that starts by itself", id)
		}
	}
	return nil
}

func (f *profile) checkLink(id uint32) error {
	one := f.streams[id].stream
	if !one.Enabled || one.NextStreamID < 0 {
		return nil
	}
	next, ok := f.streams[uint32(one.NextStreamID)]
	switch {
	case one.Mode.Type == "continuous":
		return fmt.Errorf("error: continuous stream %d cannot point to another stream", id)
	case !ok:
		return fmt.Errorf("error: stream %d points to stream %d, which does not exist", id, one.NextStreamID)
	case !next.stream.Enabled:
		return fmt.Errorf("error: stream %d points to stream %d, which is disabled", id, one.NextStreamID)
	case fixedRate(one) != fixedRate(next.stream):
		return fmt.Errorf("error: streams %d and %d: a chain cannot mix latency streams with others", id, one.NextStreamID)
	}
	return nil
}

// reach marks a chain from its first stream to its end or to where it loops.
func (f *profile) reach(id uint32, reached map[uint32]bool) {
	for !reached[id] && f.streams[id].stream.Enabled {
		reached[id] = true
		next := f.streams[id].stream.NextStreamID
		if next < 0 {
			return
		}
		id = uint32(next)
	}
}
