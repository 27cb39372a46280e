package krige

import "context"

func (m *Model) seasons(ctx context.Context, e *evidence, all *[]*family, best *family) {}
