package kubectl

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// stage is a server that does at each look what it is told: an error, or a list of one test, whose watch ends
// after a while.
type stage struct {
	looks    []error // nil: there is the test
	finalErr error   // what comes when all of them are over
	lasts    time.Duration
	requests []time.Duration // when it was asked
	start    time.Time
}

func (s *stage) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	s.requests = append(s.requests, time.Since(s.start))
	err := s.finalErr
	if len(s.looks) > 0 {
		err, s.looks = s.looks[0], s.looks[1:]
	}
	if err != nil {
		return err
	}
	tests, ok := list.(*v1alpha1.LoadTestList)
	if !ok {
		return errors.New("not LoadTests")
	}
	tests.ResourceVersion, tests.Items = "7", []v1alpha1.LoadTest{{ObjectMeta: metav1.ObjectMeta{Name: "t"}}}
	return nil
}

func (s *stage) Watch(context.Context, client.ObjectList, ...client.ListOption) (watch.Interface, error) {
	w := watch.NewRaceFreeFake()
	time.AfterFunc(s.lasts, w.Stop)
	return w, nil
}

func refused() error {
	return &url.Error{Op: "Get", URL: "https://lab", Err: errors.New("connection refused")}
}

func forbidden() error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: "loadtests"}, "t", errors.New("no"))
}

func TestSight(t *testing.T) {
	minute := time.Minute
	for _, c := range []struct {
		name          string
		stage         stage
		announcements []string // the words' beginnings
		ends          string
		minDuration   time.Duration // the end is not before; 0: at once
	}{
		{"a server that never answered is given up at once", stage{finalErr: refused()}, nil, "connection refused", 0},
		{"one that refuses is given up at once", stage{finalErr: forbidden()}, nil, "forbidden", 0},
		{"one that says that it is busy is asked again",
			stage{looks: []error{apierrors.NewServiceUnavailable("starting"), nil}, finalErr: forbidden()},
			[]string{"the API server doesn't answer ("}, "forbidden", refusalGrace},
		{"one that has answered is waited for as long as patience has it", stage{looks: []error{nil},
			finalErr: refused()},
			[]string{"the API server doesn't answer ("}, "connection refused", 10 * minute},
		{"one that comes back is told of", stage{looks: []error{nil, refused(), refused(), refused(), refused(), nil},
			finalErr: forbidden()},
			[]string{"the API server doesn't answer (", "the API server answers again",
				"the API server doesn't answer ("}, "forbidden", refusalGrace},
		{"rights that a server has forgotten for a moment are waited for",
			stage{looks: []error{nil, forbidden(), forbidden(), nil}, finalErr: refused()},
			[]string{"the API server doesn't answer (", "the API server answers again",
				"the API server doesn't answer ("}, "connection refused", 10 * minute},
		{"a version that is too old is no outage", stage{looks: []error{nil, apierrors.NewResourceExpired("old"), nil},
			finalErr: forbidden()},
			[]string{"the API server doesn't answer ("}, "forbidden", refusalGrace},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := c.stage
				s.start, s.lasts = time.Now(), 5*time.Second
				var announced []string
				objects := 0
				err := (&objectWatch{source: &s, list: &v1alpha1.LoadTestList{}, patience: 10 * minute,
					onObject: func(client.Object) { objects++ },
					onOutage: func(words string) { announced = append(announced, words) }}).run(t.Context())
				if err == nil || !strings.Contains(err.Error(), c.ends) || time.Since(s.start) < c.minDuration ||
					c.minDuration == 0 && time.Since(s.start) > 0 {
					t.Errorf("it ends after %v with %v", time.Since(s.start), err)
				}
				if !slices.EqualFunc(announced, c.announcements, strings.HasPrefix) {
					t.Errorf("it tells %q", announced)
				}
				for i := 1; i < len(s.requests); i++ {
					if gap := s.requests[i] - s.requests[i-1]; gap < firstPause || gap > longPause+s.lasts {
						t.Errorf("asked at %v", s.requests)
					}
				}
			})
		})
	}
}

func TestAnObjectThatGoes(t *testing.T) {
	deletions := 0
	s := &objectWatch{source: &stage{}, list: &v1alpha1.LoadTestList{}, onObject: func(client.Object) {},
		onGone: func() { deletions++ }}
	if err := s.handle(watch.Event{Type: watch.Deleted, Object: &v1alpha1.LoadTest{}}); !errors.Is(err, errGone) ||
		deletions != 1 {
		t.Errorf("%v, %d", err, deletions)
	}
	s.onGone = nil
	if err := s.handle(watch.Event{Type: watch.Deleted, Object: &v1alpha1.LoadTest{}}); err != nil {
		t.Errorf("what may still come ends with %v", err)
	}
}
