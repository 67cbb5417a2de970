package engine

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/precis-dev/precis/engine/plan"
	"github.com/precis-dev/precis/engine/step"
	"github.com/precis-dev/precis/fsys"
)

// receiptVersion is that of the receipt's form.
const receiptVersion = 1

// Receipt says what was done to a session that was replaced.
type Receipt struct {
	Schema    int              `json:"schema"`
	Run       string           `json:"run"`
	Job       string           `json:"job"` // digest
	Item      string           `json:"item"`
	Session   string           `json:"session"`
	Published []step.Published `json:"published"` // the session and its backups
	Facts     map[string]any   `json:"facts"`     // how it was done
	// Asked is what is known of the answers that the session was made from, by step.
	Asked map[string]map[string]any `json:"asked,omitempty"`
}

// Receipt of an item's outputs, nil when no session was replaced.
func (t *itemRun) newReceipt(d plan.Done) *Receipt {
	for _, p := range d.Published {
		if p.Old != nil {
			return &Receipt{receiptVersion, t.id, t.job.Digest(), t.ID, p.Path, d.Published, d.Facts, t.asked()}
		}
	}
	return nil
}

func (t *itemRun) asked() map[string]map[string]any {
	asked := map[string]map[string]any{}
	for name, d := range t.done {
		if !d.Asked {
			continue
		}
		if asked[name] = d.Facts; d.Facts == nil {
			asked[name] = map[string]any{} // nothing is known, but that he was asked
		}
	}
	return asked
}

// receipt writes the receipt of a replaced session into the run's folder, once
// the replacement is on record.
func (t *itemRun) receipt(d plan.Done) error {
	r := t.newReceipt(d)
	if r == nil || t.journal == nil {
		return nil
	}
	t.result.Replaced = r
	if err := t.commit(); err != nil {
		return err
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	name := filepath.Join(t.dir, "receipts", t.ID+".json")
	if err = fsys.MkdirAll(t.env.FS, filepath.Dir(name)); err == nil {
		err = fsys.WriteFile(t.env.FS, name, t.id, append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("the session is replaced, and the receipt could not be written: %w", err)
	}
	t.result.Receipt = name
	return nil
}
