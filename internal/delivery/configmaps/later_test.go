package configmaps_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/linerate-dev/linerate/internal/delivery"
	"github.com/linerate-dev/linerate/internal/delivery/configmaps"
)

// own says whose the ConfigMaps are, and makes them others than those before.
func (s *server) own(test types.UID) {
	for _, cm := range s.stored {
		cm.OwnerReferences = []metav1.OwnerReference{{Kind: "LoadTest", Name: "t", UID: test, Controller: new(true)}}
		cm.ResourceVersion = string(test)
	}
}

func TestALaterTestOfTheSameNameIsLetBe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const old, later = "uid-of-the-old", "uid-of-the-later"
		s := newServer()
		s.own(old)
		o := options(s, "a")
		o.Test = old
		sink, err := configmaps.Claim(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		s.stored = newServer().stored
		s.own(later)
		stop := keep(t.Context(), sink)
		sink.Tell(delivery.Progress{Phase: "Ramping"})
		time.Sleep(11 * time.Second)
		if err := stop(); !errors.Is(err, delivery.ErrFenced) {
			t.Errorf("Keep ended with %v", err)
		}
		if err := sink.Finish(t.Context(), aReport("of the old"), true); !errors.Is(err, delivery.ErrFenced) {
			t.Errorf("Finish ended with %v", err)
		}
		if _, err := configmaps.Claim(t.Context(), o); !errors.Is(err, delivery.ErrFenced) {
			t.Errorf("Claim ended with %v", err)
		}
		if s.stored["t-progress"].Data != nil || s.stored["t-report"].BinaryData != nil {
			t.Error("the old one's runner wrote into the later one's ConfigMaps")
		}
	})
}
