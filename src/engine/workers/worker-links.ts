import type { Log } from '../../base/log.ts'
import { guarded } from '../tasks/guarded.ts'
import type { SessionLink } from './worker-link.ts'

/** The registered workers and their sessions. */
export interface WorkerLinks {
  readonly size: number
  find(worker: string): SessionLink | undefined
  /** Returns the link that it replaces, which the caller drops. */
  add(link: SessionLink): SessionLink | undefined
  /** Answers the link's polls with nothing and tells its session that it is over. */
  drop(link: SessionLink, what?: string): void
  all(): Iterable<SessionLink>
  /** Drops all links. */
  close(what: string): void
}

export function workerLinks(log: Log): WorkerLinks {
  const links = new Map<string, SessionLink>()
  const drop = (link: SessionLink, what = link.what): void => {
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
