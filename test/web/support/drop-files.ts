import type { Page } from 'playwright-core';

export interface DroppedFile {
  name: string;
  content: string;
}

/** As a hand lets go of files over the page's area for them. */
export async function dropFiles(page: Page, files: readonly DroppedFile[]): Promise<void> {
  const transfer = await page.evaluateHandle(`(() => {
    const transfer = new DataTransfer();
    for (const { name, content } of ${JSON.stringify(files)})
      transfer.items.add(new File([content], name, { type: 'text/markdown' }));
    return transfer;
  })()`);
  const area = page.getByRole('button', { name: 'Drop files or folders here' });
  for (const event of ['dragenter', 'dragover', 'drop'])
    await area.dispatchEvent(event, { dataTransfer: transfer });
}
