import type { Reach } from './import-rules.ts'

/** Every folder but grpc may import these. */
export const GROUND = ['base', 'model']
/**
 * The folders that each folder under src may import. A folder that is not on the right must not be imported; adding one is a reviewed
 * change. `npm run pictures` draws docs/pictures/folders.svg from this table.
 */
export const ARROWS: Reach = {
  base: [],
  model: ['base'],
  grpc: [], // knows nothing of Windlass, not even its ground
  scheduler: GROUND,
  workflow: GROUND,
  runtimes: GROUND,
  'cwl-runner': [...GROUND, 'workflow', 'runtimes', 'stagers', 'worker', 'services'],
  wire: GROUND,
  storage: [...GROUND, 'wire', 'grpc'],
  stagers: [...GROUND, 'storage'],
  engine: [...GROUND, 'scheduler', 'storage'],
  languages: GROUND,
  services: [...GROUND, 'engine', 'storage', 'stagers', 'workflow', 'languages', 'wire'],
  worker: [...GROUND, 'languages', 'runtimes', 'stagers', 'storage', 'wire', 'grpc'],
  doors: [...GROUND, 'engine', 'languages', 'services', 'storage', 'wire', 'grpc'],
  client: [...GROUND, 'wire', 'grpc'],
  check: [...GROUND, 'client', 'wire', 'grpc'],
  cli: [...GROUND, 'languages', 'client', 'check', 'workflow', 'cwl-runner', 'app'],
}
const ALL = [...Object.keys(ARROWS), 'app']
/** With `app`, which wires everything, and `testing`, which only tests import. */
export const REACH: Reach = { ...ARROWS, app: ALL, testing: ALL }
