package kubectl

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/internal/host/bounded"
)

// Pauses between requests to a server that is away grow from firstPause to longPause. A server that has just
// come back may not know rights and kinds yet, so its refusals count only after refusalGrace.
const (
	firstPause   = time.Second
	longPause    = 15 * time.Second
	refusalGrace = 30 * time.Second
)

// errGone says that the watched object doesn't exist.
var errGone = errors.New("the object doesn't exist")

// source lists and watches objects, as client.WithWatch does.
type source interface {
	List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error
	Watch(ctx context.Context, list client.ObjectList, opts ...client.ListOption) (watch.Interface, error)
}

// objectWatch follows one object, or several that a selector matches, across broken connections and outages of
// the server.
//
//	list ──▶ watch ──connection ends──▶ list ──▶ watch ──▶ …
//	  └─error─▶ pause 1 s, 2 s, … 15 s ─▶ list, until patience is over
type objectWatch struct {
	source   source
	key      client.ObjectKey
	list     client.ObjectList // an empty list of the kind, which is copied for each request
	patience time.Duration     // how long a server may be away
	selector client.ListOption // selects objects of key's namespace; nil: the one object that key names

	onObject  func(client.Object)   // an object was listed, created or changed
	onList    func([]client.Object) // all objects were listed; nil: onObject gets each
	onDeleted func(client.Object)   // one of several objects was deleted; may be nil
	onGone    func()                // the one object was deleted, or doesn't exist; nil: it may still be created
	onOutage  func(message string)  // an outage began or ended; may be nil
}

// run returns when the context ends, the object is gone, the server refuses, or an outage is longer than patience.
func (s *objectWatch) run(ctx context.Context) error {
	var outage outage
	for {
		start := time.Now()
		err := s.listAndWatch(ctx, func() { outage.end(s.say) })
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, errGone):
			return err
		case err == nil || apierrors.IsResourceExpired(err) || apierrors.IsGone(err):
			err = nil
			if bounded.Pause(ctx, firstPause-time.Since(start)) != nil {
				err = ctx.Err()
			}
		default:
			err = outage.wait(ctx, start, err, s.patience, s.say)
		}
		if err != nil {
			return err
		}
	}
}

func (s *objectWatch) say(message string) {
	if s.onOutage != nil {
		s.onOutage(message)
	}
}

// listAndWatch lists, and then watches until the connection ends. It calls answered after the list.
func (s *objectWatch) listAndWatch(ctx context.Context, answered func()) error {
	version, err := s.listAll(ctx, answered)
	if err != nil {
		return err
	}
	return s.watch(ctx, version)
}

func (s *objectWatch) options(version string) []client.ListOption {
	selector := s.selector
	if selector == nil {
		selector = client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector(metav1.ObjectNameField,
			s.key.Name)}
	}
	return []client.ListOption{
		client.InNamespace(s.key.Namespace),
		selector,
		&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: version, AllowWatchBookmarks: version != ""}},
	}
}

func (s *objectWatch) empty() client.ObjectList { return s.list.DeepCopyObject().(client.ObjectList) }

func (s *objectWatch) listAll(ctx context.Context, answered func()) (version string, err error) {
	list := s.empty()
	if err := s.source.List(ctx, list, s.options("")...); err != nil {
		return "", err
	}
	answered()
	items, err := meta.ExtractList(list)
	if err != nil {
		return "", err
	}
	if len(items) == 0 && s.onGone != nil {
		s.onGone()
		return "", errGone
	}
	var objects []client.Object
	for _, item := range items {
		if o, ok := item.(client.Object); ok {
			objects = append(objects, o)
		}
	}
	if s.onList != nil {
		s.onList(objects)
	} else {
		for _, o := range objects {
			s.onObject(o)
		}
	}
	return list.GetResourceVersion(), nil
}

func (s *objectWatch) watch(ctx context.Context, version string) error {
	w, err := s.source.Watch(ctx, s.empty(), s.options(version)...)
	if err != nil {
		return err
	}
	defer w.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case event, open := <-w.ResultChan():
			if !open {
				return nil
			}
			if err := s.handle(event); err != nil {
				return err
			}
		}
	}
}

func (s *objectWatch) handle(event watch.Event) error {
	o, _ := event.Object.(client.Object)
	switch event.Type {
	case watch.Error:
		return apierrors.FromObject(event.Object)
	case watch.Added, watch.Modified:
		s.onObject(o)
	case watch.Bookmark:
	case watch.Deleted:
		if s.onGone != nil {
			s.onGone()
			return errGone
		}
		if s.onDeleted != nil && o != nil {
			s.onDeleted(o)
		}
	}
	return nil
}

// outage is the time during which a server refuses requests, or doesn't answer them.
type outage struct {
	answered  bool      // the server answered at least once
	start     time.Time // zero: there is no outage
	pause     time.Duration
	announced bool
}

// end notes an answer, and announces the end of the outage if its begin was announced.
func (o *outage) end(announce func(string)) {
	if o.announced {
		announce("the API server answers again")
	}
	*o = outage{answered: true}
}

// wait pauses after a request that began at start and failed. It returns the error where another try is of no
// use, or the outage was longer than it may be.
func (o *outage) wait(ctx context.Context, start time.Time, err error, patience time.Duration,
	announce func(string)) error {
	if o.start.IsZero() {
		o.start, o.pause = start, firstPause
	}
	if time.Since(o.start) >= o.limit(err, patience) {
		return err
	}
	if !o.announced && time.Since(o.start) >= firstPause {
		o.announced = true
		announce(fmt.Sprintf("the API server doesn't answer (%v): trying again for up to %v; the test goes on "+
			"without it", err, patience))
	}
	if bounded.Pause(ctx, o.pause) != nil {
		return ctx.Err()
	}
	o.pause = min(2*o.pause, longPause)
	return nil
}

// limit is how long an outage with this error may last. A server that never answered gets no time, since its address is
// probably wrong.
func (o *outage) limit(err error, patience time.Duration) time.Duration {
	_, refused := errors.AsType[*apierrors.StatusError](err)
	switch {
	case overloaded(err):
		return patience
	case !o.answered:
		return 0
	case refused:
		return min(refusalGrace, patience)
	}
	return patience
}
