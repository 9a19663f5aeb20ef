import type { Instance, Instances } from '../../services/instances/instances.ts'
import type { ActionCache } from '../../storage/action-cache.ts'
import { alwaysHoldingEmptyBlob } from '../../storage/always-holding-empty-blob.ts'
import type { BlobStore } from '../../storage/blob-store.ts'
import type { BulkPool } from '../../storage/bulk/bulk-pool.ts'
import { onlyCommandResults } from '../../storage/only-command-results.ts'
import { onlyComplete } from '../../storage/only-complete.ts'
import type { PackStore } from '../../storage/packs/pack-store.ts'
import { ownNames, packedActionCache } from '../../storage/packs/packed-action-cache.ts'
import type { ValueStore } from '../../storage/packs/value-space.ts'
import { readOnlyActions } from '../../storage/read-only-actions.ts'
import { verifying } from '../../storage/verification/verifying.ts'
import { keepingZstdForms } from '../../storage/zstd-forms/keeping-zstd-forms.ts'
import type { ZstdCompressors } from '../../storage/zstd-forms/zstd-compressors.ts'
import type { Config } from '../config/config.ts'
import type { UpstreamStorage } from './storage-upstream.ts'

/** The base of the store stacks. */
export interface Ground {
  readonly packs: PackStore
  /** The store of action results. */
  readonly values: ValueStore
  /** The instance of callers who name none. */
  readonly unnamed: string
  readonly bulk: BulkPool
  readonly compressors: ZstdCompressors
  readonly upstream: UpstreamStorage | undefined
  readonly metered: (inner: BlobStore) => BlobStore
  /** The server's secret, part of the keys of its own results. */
  readonly secret: string
}

type Settings = Config['storage']
type Stores = Pick<Instance, 'blobs' | 'uploads' | 'actions'> & { readonly own: OwnResults }

/** Results of command tasks and of their compile stages. No client reads or writes them, and no upstream has them. */
export interface OwnResults {
  readonly tasks: ActionCache
  readonly stages: ActionCache
}

export interface InstanceStores {
  readonly instances: Instances
  /** The results of an instance whose callers may only read them. */
  readonly actionsOf: (name: string) => ActionCache
  readonly ownResultsOf: (name: string) => OwnResults
}

/** Maps each instance name to its stores: most share one space, those that the settings name have their own. */
export function instancesOf(settings: Settings, ground: Ground): InstanceStores {
  const { spaces, digest_functions, action_cache } = settings
  const readOnly = new Set(action_cache.read_only_instances)
  const made = new Map<string, Stores>()
  const storesOf = (space: number, name: string): Stores => {
    const there = ground.upstream?.instanceFor(space, name)
    const key = `${space}/${there}`
    const stores = made.get(key) ?? stackOf(settings, ground, { space, there })
    made.set(key, stores)
    return stores
  }
  const instanceOf = (name: string): Instance => {
    const stores = storesOf(spaces[name] ?? 0, name)
    const unnamedFunction = digest_functions[name] ?? 'sha256'
    if (!readOnly.has(name)) return { ...stores, unnamedFunction, mayUpdateActions: true }
    return { ...stores, actions: readOnlyActions(stores.actions), unnamedFunction, mayUpdateActions: false }
  }
  const named = [...Object.keys(spaces), ...Object.keys(digest_functions), ...readOnly]
  const special = new Map(named.map((name) => [name, instanceOf(name)]))
  const usual: Instance = { ...storesOf(0, ''), unnamedFunction: 'sha256', mayUpdateActions: true }
  const served = (name: string): Instance => special.get(name) ?? usual
  const { unnamed } = ground
  const unnamedInstance = { ...served(unnamed), actions: underName(unnamed, served(unnamed).actions) }
  return {
    instances: (name) => (name === '' ? unnamedInstance : served(name)),
    actionsOf: (name) =>
      (readOnly.has(name) ? storesOf(spaces[name] ?? 0, name) : (special.get(name) ?? usual)).actions,
    ownResultsOf: (name) => storesOf(spaces[name] ?? 0, special.has(name) ? name : '').own,
  }
}

interface Place {
  readonly space: number
  /** The upstream's name of the instance; undefined without an upstream, or when it has no instance for this one. */
  readonly there: string | undefined
}

/** The stack from the disk up, or from the upstream where nothing is stored here. */
function stackOf({ cas }: Settings, ground: Ground, { space, there }: Place): Stores {
  const { packs, values, bulk, compressors, upstream, metered } = ground
  const here = packedActionCache(values)
  const packed = keepingZstdForms({ forms: packs.zstdForms(space), compressors })(packs.space(space))
  const stores = (blobs: BlobStore, actions: (complete: Complete) => ActionCache): Stores => {
    const counted = metered(blobs)
    const complete = onlyComplete(counted)
    const own = ownResults(ground, complete)
    return { blobs: counted, uploads: verifying(bulk)(counted), actions: actions(complete), own }
  }
  if (upstream === undefined || there === undefined) {
    return stores(alwaysHoldingEmptyBlob(packed), (complete) => complete(here))
  }
  if (cas.backend === 'grpc') {
    return stores(alwaysHoldingEmptyBlob(upstream.blobs(there)), (complete) => complete(upstream.actions))
  }
  // Below the upstream, so that the empty blob is never requested from it.
  return stores(upstream.behind(alwaysHoldingEmptyBlob(packed), there), (complete) =>
    // Each result separately: one that is unusable here must not hide a good one upstream.
    upstream.actionsBehind(complete(here), complete(upstream.actions)),
  )
}

const ownResults = ({ values, secret }: Ground, complete: Complete): OwnResults => {
  const of = (kind: 'task' | 'stage'): ActionCache =>
    onlyCommandResults(complete(packedActionCache(values, ownNames(secret, kind))))
  return { tasks: of('task'), stages: of('stage') }
}

/** Stores the results of callers who name no instance under the configured name. */
const underName = (name: string, inner: ActionCache): ActionCache => ({
  ...inner,
  get: (_, action) => inner.get(name, action),
  put: (_, action, result) => inner.put(name, action, result),
})

type Complete = (inner: ActionCache) => ActionCache
