import type { WorkflowDefinitionOptions } from '@temporalio/common';
import { setWorkflowOptions, workflowInfo } from '@temporalio/workflow';
import { cleanDocument } from './documents/clean-document.js';
import { copyDocument } from './documents/copy-document.js';
import { indexDocument } from './documents/index-document.js';
import { settleDocument } from './documents/settle-document.js';

/**
 * With worker versioning (WORKER_BUILD_ID) what is over within moments as a rule, and of which there are many, ends on
 * the workers of the release that began it. The rest lives for days: actors, upkeep, migrations and swaps go on with
 * each new release. From a worker that is not versioned the server takes no such word: it would refuse each task.
 */
function pinned(): WorkflowDefinitionOptions {
  const deployment = workflowInfo().currentDeploymentVersion?.deploymentName ?? '';
  return deployment === '' ? {} : { versioningBehavior: 'PINNED' };
}
setWorkflowOptions(pinned, indexDocument);
setWorkflowOptions(pinned, copyDocument);
setWorkflowOptions(pinned, cleanDocument);
setWorkflowOptions(pinned, settleDocument);
