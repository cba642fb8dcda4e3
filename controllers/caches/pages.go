package caches

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
)

// pageSize is how many objects are listed at a time. At 1.5 MiB each, etcd's maximum, they take 48 MiB.
const pageSize = 32

// newInformer makes the informer of a cache. An API server that streams lists (Kubernetes 1.34, and 1.32) sends
// one object after the other. Any other would send the whole list in one answer, so lists come one page at a
// time.
func newInformer(source toolscache.ListerWatcher, example runtime.Object, resync time.Duration,
	indexers toolscache.Indexers) toolscache.SharedIndexInformer {
	return toolscache.NewSharedIndexInformer(inPages(source), example, resync, indexers)
}

// inPages lists one page at a time, and keeps each page in brief before it requests the next. It watches as the
// source does.
func inPages(lister toolscache.ListerWatcher) toolscache.ListerWatcher {
	source := toolscache.ToListerWatcherWithContext(lister)
	return &toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			// older servers page only what they read from etcd
			options.Limit, options.ResourceVersion, options.ResourceVersionMatch = pageSize, "", ""
			var objects []runtime.Object
			for {
				page, err := source.ListWithContext(ctx, options)
				if err != nil {
					return nil, err
				}
				items, next, err := pageInBrief(page)
				if err != nil {
					return nil, err
				}
				objects = append(objects, items...)
				if options.Continue = next; next == "" {
					return page, meta.SetList(page, objects)
				}
			}
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return source.WatchWithContext(ctx, options)
		},
	}
}

// pageInBrief are the objects of a page, in brief, and the token of the next page, which is empty after the
// last.
func pageInBrief(page runtime.Object) (items []runtime.Object, next string, err error) {
	list, err := meta.ListAccessor(page)
	if err != nil {
		return nil, "", err
	}
	if items, err = meta.ExtractListWithAlloc(page); err != nil {
		return nil, "", err
	}
	for _, item := range items {
		if _, err := inBrief(item); err != nil {
			return nil, "", err
		}
	}
	return items, list.GetContinue(), nil
}
