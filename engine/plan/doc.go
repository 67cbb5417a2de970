// Package plan orders the steps of an item and gives each its key.
//
// The order is the one in which the steps were given, moved only as far as their
// needs demand, so it never depends on chance. A key is a digest over everything
// a step's output may depend on; its components are kept beside it, so that two
// runs can be compared and the first difference named.
//
// The package runs nothing and looks nothing up.
package plan
