package qualify

import (
	"fmt"

	"github.com/linerate-dev/linerate/internal/host/ethtool"
)

// inspectFacts is what ethtool says of an interface.
func inspectFacts(name string) (string, error) {
	facts, err := ethtool.Ask(name)
	return fmt.Sprintf("%+v", facts), err
}
