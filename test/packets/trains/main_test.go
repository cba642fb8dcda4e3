package trains

import (
	"os"
	"testing"

	"github.com/linerate-dev/linerate/test/rigs/impaired"
)

func TestMain(m *testing.M) {
	impaired.Main()
	os.Exit(m.Run())
}
