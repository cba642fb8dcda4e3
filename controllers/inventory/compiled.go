package inventory

import (
	"container/list"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/compile"
)

// The memory of compiled tests: about what one without templates takes, and how much all may take together.
const (
	compiledBytes = 8 << 10
	mostCompiled  = 32 << 20
)

// compiledTests are the tests that were asked for last, compiled, or why they can't be: a test is compiled once for each generation of its spec as long as there is memory for it. A test that can't be compiled costs
// as much as any, so its errors are kept, too.
type compiledTests struct {
	compile func(*v1alpha1.LoadTest) compile.Compiled

	mu     sync.Mutex
	of     map[types.UID]*list.Element
	recent list.List // of *compiledTest, the last one that was asked for first
	bytes  int64
}

// compiledTest is one of them.
type compiledTest struct {
	uid   types.UID
	of    compiledFrom
	bytes int64
	// once guards is: whoever asks first compiles, and only those that ask for the same test wait.
	once sync.Once
	is   compile.Compiled
}

// compiledFrom is all of a test that its compilation depends on and that changes in its life.
type compiledFrom struct {
	generation        int64
	product, loadtest string // labels
}

func newCompiledTests(bounds compile.Bounds) *compiledTests {
	return &compiledTests{of: map[types.UID]*list.Element{}, compile: func(test *v1alpha1.LoadTest) (c compile.Compiled) {
		c.Cluster, c.Errs = bounds.ForCluster(test)
		return c
	}}
}

// get is the compiled test. Nobody who asks for another test waits while one is compiled.
func (c *compiledTests) get(test *v1alpha1.LoadTest) *compile.Compiled {
	t := c.entry(test)
	t.once.Do(func() { t.is = c.compile(test) })
	return &t.is
}

// entry is the place of a test's compilation, a new one if there is none of this generation. A test without generation is none of an API server's, and isn't kept.
func (c *compiledTests) entry(test *v1alpha1.LoadTest) *compiledTest {
	from := compiledFrom{test.Generation, test.Labels[v1alpha1.LabelProduct], test.Labels[v1alpha1.LabelLoadTest]}
	if test.Generation == 0 {
		return &compiledTest{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.of[test.UID]; known != nil {
		if t := known.Value.(*compiledTest); t.of == from {
			c.recent.MoveToFront(known)
			return t
		}
		c.drop(known)
	}
	t := &compiledTest{uid: test.UID, of: from, bytes: compiledBytes + test.Spec.FreeformMemory()}
	c.of[test.UID] = c.recent.PushFront(t)
	for c.bytes += t.bytes; c.bytes > mostCompiled && c.recent.Len() > 1; {
		c.drop(c.recent.Back())
	}
	return t
}

func (c *compiledTests) drop(e *list.Element) {
	t := c.recent.Remove(e).(*compiledTest)
	delete(c.of, t.uid)
	c.bytes -= t.bytes
}

// forget forgets a test that is gone.
func (c *compiledTests) forget(uid types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.of[uid]; e != nil {
		c.drop(e)
	}
}
