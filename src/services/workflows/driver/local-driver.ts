import type { ExpressionPool } from '../../../workflow/expressions/expression-pool.ts'
import type { WorkflowDriver } from './driver.ts'
import { runWorkflow } from './run-workflow.ts'
import { treeStore } from './tree-blobs.ts'

/** Drives submissions on the calling thread. */
export const localDriver = (expressions: ExpressionPool, outputJsonBytes = 16 << 20): WorkflowDriver => ({
  run: (run, { blobs, stager, runStep, runsImages, ended, signal }) =>
    runWorkflow(run, {
      trees: treeStore(blobs, 'sha256'),
      stager,
      expressions,
      outputJsonBytes,
      runStep,
      runsImages: async (inPlaces) => runsImages(inPlaces),
      ended,
      signal,
    }),
  close: () => expressions.close(),
})
