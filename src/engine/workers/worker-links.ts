import type { Log } from '../../base/log.ts'
import { guarded } from '../tasks/guarded.ts'
import type { WorkerLink } from './worker-link.ts'

/** The registered workers and their sessions. */
export interface WorkerLinks {
  readonly size: number
  find(worker: string): WorkerLink | undefined
  /** Returns the link that it replaces, which the caller drops. */
  add(link: WorkerLink): WorkerLink | undefined
  /** Answers the link's polls with nothing and tells its session that it is over. */
  drop(link: WorkerLink, what?: string): void
  all(): Iterable<WorkerLink>
  /** Drops all links. */
  close(what: string): void
}

export function workerLinks(log: Log): WorkerLinks {
  const links = new Map<string, WorkerLink>()
  const drop = (link: WorkerLink, what = link.what): void => {
    const { worker } = link.description
    if (links.get(worker) === link) links.delete(worker)
    const { parked } = link
    link.parked = []
    for (const { answer } of parked) guarded(log, () => answer([]))
    guarded(log, () => link.session.over(what))
  }
  return {
    get size() {
      return links.size
    },
    find: (worker) => links.get(worker),
    add(link) {
      const before = links.get(link.description.worker)
      links.set(link.description.worker, link)
      return before
    },
    drop,
    all: () => links.values(),
    close(what) {
      for (const link of [...links.values()]) drop(link, what)
    },
  }
}
