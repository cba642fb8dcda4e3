package controllers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func TestEveryControllerEndsOrderly(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	controllers := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, completed := range regexp.MustCompile(`\bComplete\(.*`).FindAllString(string(text), -1) {
			controllers++
			if !strings.HasPrefix(completed, "Complete(orderly{") {
				t.Errorf("%s: %s", file, completed)
			}
		}
	}
	if controllers < 5 {
		t.Errorf("only %d controllers were found", controllers)
	}
}

func TestAnOrderlyEndIsNoFault(t *testing.T) {
	refused := errors.New("refused")
	for name, c := range map[string]struct {
		ends      bool // the manager
		err, want error
	}{
		"cut short by the manager's end":         {true, fmt.Errorf("list: %w", context.Canceled), nil},
		"a fault at the manager's end":           {true, refused, refused},
		"something else was cancelled in a pass": {false, context.Canceled, context.Canceled},
		"a pass that did what it had to":         {false, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, end := context.WithCancel(t.Context())
			defer end()
			if c.ends {
				end()
			}
			pass := orderly{reconcile.Func(func(context.Context, ctrl.Request) (ctrl.Result, error) { return ctrl.Result{}, c.err })}
			if _, err := pass.Reconcile(ctx, ctrl.Request{}); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
				t.Errorf("it ends with %v, want %v", err, c.want)
			}
		})
	}
}
