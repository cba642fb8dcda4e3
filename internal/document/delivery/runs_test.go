package delivery_test

import (
	"reflect"
	"testing"

	"github.com/linerate-dev/linerate/internal/cluster/suite"
	"github.com/linerate-dev/linerate/internal/document/delivery"
)

// A run of a sheet is its name, its text and itself, with what its pointers lead to.
func TestNoRunIsLargerThanItIsCountedWith(t *testing.T) {
	type entry struct {
		Name    string
		Written []byte
		Run     suite.Run
	}
	element, size := delivery.LargestElement(reflect.TypeFor[[]entry]())
	t.Logf("the largest element of a sheet is a %s, with %d bytes", element, size)
	if size > delivery.RunElementBytes {
		t.Errorf("a %s takes %d bytes, and is counted with %d", element, size, delivery.RunElementBytes)
	}
}
