package cnp

import (
	"context"
	"sync"

	"github.com/equivcnp/equivcnp/internal/parallel"
)

// maxTwins is how many tasks of equal points go together: their encodings stay in the second-level cache.
const maxTwins = 32

// twinPieces takes the tasks apart into jobs of one, or where tasks are twins of some of those: job i is the tasks from one up to another.
func (b *Batch[T]) twinPieces() (jobs int, tasks func(i int) (from, to int)) {
	twins := max(1, b.twins)
	each := min(maxTwins, (twins+2*workers()-1)/(2*workers()))
	pieces := (twins + each - 1) / each
	return b.B / twins * pieces, func(i int) (from, to int) {
		from = i/pieces*twins + i%pieces*each
		return from, min(from+each, (i/pieces+1)*twins)
	}
}

// eachPiece calls predict for every piece of a batch (twinPieces), on several goroutines, until one fails or ctx ends, and returns the
// first error. The pool keeps working memory of type R; share is how many threads are left for one piece, where there are fewer
// pieces than threads.
func eachPiece[T Float, R any](ctx context.Context, b *Batch[T], pool *sync.Pool, predict func(run *R, from, to, share int) error) error {
	threads := workers()
	jobs, twinsOf := b.twinPieces()
	share := max(1, threads/max(1, jobs))
	report := progress(ctx)
	var (
		mu   sync.Mutex
		done int
		err  error
	)
	parallel.ForWorkers(jobs, 1, threads, func(_, i, _ int) {
		from, to := twinsOf(i)
		mu.Lock()
		if err == nil {
			err = ctx.Err()
		}
		stop := err != nil
		mu.Unlock()
		if stop {
			return
		}
		run, _ := pool.Get().(*R)
		if run == nil {
			run = new(R)
		}
		failed := predict(run, from, to, share)
		pool.Put(run)
		mu.Lock()
		defer mu.Unlock()
		if failed != nil && err == nil {
			err = failed
		}
		report(done, b.B)
		done += to - from
	})
	if err == nil {
		report(b.B, b.B)
	}
	return err
}
