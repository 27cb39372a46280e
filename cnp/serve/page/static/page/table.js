// Tables of text that visitors paste, drop or load, with what says how they are to be read. The engine reads them as the program reads tables.
import { Lost, NeedsToken, engine, latest } from './engine.js'

const element = id => document.getElementById(id)

// mostRows is how many points a table or a link may have, and mostBytes how long a table may be; package mappoints says so, too.
export const mostRows = 2000
const mostBytes = 2 << 20

export class TablePanel {
  #view
  #table = null // that was taken last, {blob, name}

  // The elements of a view's panel begin with its name. taken gets what a table of that kind holds; problem what concerns more than a table.
  constructor(view, { kind, taken, problem }) {
    this.#view = view
    Object.assign(this, { kind, taken, problem })
    this.#of('take').addEventListener('click', () => this.#take({ blob: new Blob([this.#of('table').value]), name: 'table' }))
    this.#of('file').addEventListener('change', ({ target }) => {
      if (target.files.length > 0) this.takeFile(target.files[0])
      target.value = '' // or the same file would be no change
    })
    for (const id of ['columns', 'decimal', 'dates', 'missing']) this.#of(id).addEventListener('change', () => this.#table && this.#take(this.#table))
  }

  #of(id) { return element(`${this.#view}-${id}`) }

  takeFile(file) {
    this.#of('paste').open = true
    this.#take({ blob: file, name: file.name })
  }

  #take = latest(async table => {
    const note = this.#of('note'), list = this.#of('notes')
    this.#table = table
    note.textContent = ''
    list.replaceChildren()
    delete list.dataset.name
    try {
      const { blob, name } = table
      if (blob.size > mostBytes) throw new Error(`${name} has ${(blob.size / 1e6).toFixed(1)} MB: this page takes ${mostBytes >> 20} MB and ${mostRows} points at most; equivcnp regress takes any number.`)
      const bytes = new Uint8Array(await blob.arrayBuffer().catch(() => { throw new Error(`${name} cannot be read: is it a folder?`) }))
      const [columns, decimal, dates, missing] = ['columns', 'decimal', 'dates', 'missing'].map(id => this.#of(id).value)
      const answer = await engine.table(bytes, { kind: this.kind, name, columns, decimal, dates, missing })
      this.taken(answer)
      for (const text of answer.notes) list.append(Object.assign(document.createElement('li'), { textContent: text }))
      list.dataset.name = name // of the table whose points these are
    } catch (e) {
      note.textContent = e.message
      if (e instanceof NeedsToken || e instanceof Lost) this.problem(e)
    }
  })
}
