import { FaultError, invalid } from '../base/fault.ts'
import { type OpenRuntime, openRuntime, type RuntimeDeps, type RuntimeWish } from '../runtimes/open-runtime.ts'
import type { Backend } from './backends.ts'

const WISHES: Readonly<Record<Exclude<Backend, 'docker'>, RuntimeWish>> = {
  auto: 'strongest',
  host: 'bare',
  sandbox: 'sandbox',
  unshare: 'unshare',
}

/** What commands run in, as the settings name it. Rooms have an environment of their own, and only bare ones ours. */
export async function openBackend(backend: Backend, deps: RuntimeDeps): Promise<OpenRuntime> {
  if (backend === 'docker') throw invalid('worker.backend: docker is not in this version', 'unsupported')
  const wish = WISHES[backend]
  try {
    return await openRuntime(wish, wish === 'bare' ? deps : { ...deps, env: [] })
  } catch (error) {
    if (!(error instanceof FaultError) || wish !== 'strongest') throw error
    const advice = 'or let commands run without a room by --backend host, if you trust everyone who sends them'
    throw new FaultError({ kind: 'unavailable', what: `${error.message}; ${advice}` }, error)
  }
}
