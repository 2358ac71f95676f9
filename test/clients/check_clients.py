"""The Python clients in use against a running gateway; one JSON line for each check."""

import json
import os
import sys
import traceback

import openai
from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI, OpenAIEmbeddings

URL = os.environ["TAMIS_URL"] + "/v1"
TOKEN = os.environ["TAMIS_TOKEN"]
MODEL = os.environ["TAMIS_MODEL"]
ANSWER = os.environ["TAMIS_ANSWER"]
QUESTION = [{"role": "user", "content": "When does the mill open?"}]
WEATHER = {
    "type": "function",
    "function": {"name": "open_mill", "parameters": {"type": "object", "properties": {"at": {"type": "string"}}}},
}

client = openai.OpenAI(base_url=URL, api_key=TOKEN, max_retries=0)


def lists_models():
    names = [model.id for model in client.models.list()]
    assert MODEL in names and "partition-all" in names, names
    assert client.models.retrieve(MODEL).id == MODEL


def chats_with_sources():
    answer = client.chat.completions.create(model=MODEL, messages=QUESTION)
    assert answer.choices[0].message.content == ANSWER, answer
    assert answer.usage.total_tokens > 0
    source = answer.extra["cited_sources"][0]
    assert source["verified"] is True, source
    extract = client.get(source["chunk_url"].replace(os.environ["TAMIS_URL"], ".."), cast_to=object)
    # Offsets count code points, as Python's slices do.
    quoted = extract["page_content"][source["char_start"] : source["char_end"]]
    assert quoted == source["quote"], (quoted, source)


def streams_with_usage():
    text, usage, sources = "", None, None
    stream = client.chat.completions.create(
        model=MODEL, messages=QUESTION, stream=True, stream_options={"include_usage": True}
    )
    for chunk in stream:
        usage = chunk.usage or usage
        sources = chunk.extra.get("sources") or sources
        if chunk.choices:
            text += chunk.choices[0].delta.content or ""
    assert text == ANSWER, text
    assert usage.total_tokens > 0 and sources, (usage, sources)


def asks_for_metadata():
    answer = client.chat.completions.create(
        model=MODEL, messages=QUESTION, extra_body={"metadata": {"include_all_retrieved_sources": True}}
    )
    assert answer.extra["all_retrieved_sources"], answer.extra


def completes_text():
    answer = client.completions.create(model=MODEL, prompt="When does the mill open?")
    assert answer.choices[0].text == ANSWER, answer


def embeds():
    answer = client.embeddings.create(model="builtin-hash", input=["one", "two"])
    lengths = [sum(value * value for value in item.embedding) for item in answer.data]
    assert all(abs(length - 1) < 1e-3 for length in lengths), lengths


def raises(kind, **request):
    try:
        client.chat.completions.create(**{"model": MODEL, "messages": QUESTION, **request})
    except kind:
        return
    raise AssertionError(f"no {kind.__name__}")


def knows_its_errors():
    raises(openai.BadRequestError, messages=[])
    raises(openai.BadRequestError, n=2)
    raises(openai.NotFoundError, model="gpt-4")
    raises(openai.UnprocessableEntityError, temperature=9)
    raises(openai.APIStatusError, max_tokens=1_000_000)
    unauthenticated = openai.OpenAI(base_url=URL, api_key="or-unknown", max_retries=0)
    try:
        unauthenticated.models.list()
    except openai.PermissionDeniedError:
        return
    raise AssertionError("a wrong token was let in")


def chain(**options):
    return ChatOpenAI(base_url=URL, api_key=TOKEN, model=MODEL, max_retries=0, **options)


def langchain_answers():
    answer = chain().invoke([HumanMessage("When does the mill open?")])
    assert answer.content == ANSWER, answer
    assert answer.usage_metadata["total_tokens"] > 0


def langchain_streams():
    text = "".join(chunk.content for chunk in chain().stream("When does the mill open?"))
    assert text == ANSWER, text


def langchain_binds_tools():
    answer = chain().bind_tools([WEATHER]).invoke("Open the mill, please: call the function.")
    assert answer.tool_calls[0]["name"] == "open_mill", answer
    assert answer.tool_calls[0]["args"] == {"at": "nine"}, answer


def langchain_embeds():
    # Its own count of tokens fetches a table from the internet; the texts themselves need none.
    embeddings = OpenAIEmbeddings(
        base_url=URL, api_key=TOKEN, model="builtin-hash", check_embedding_ctx_length=False
    )
    vectors = embeddings.embed_documents(["The mill opens at nine.", "Something else."])
    assert [len(vector) for vector in vectors] == [1024, 1024]
    assert len(embeddings.embed_query("mill")) == 1024


CHECKS = [
    lists_models,
    chats_with_sources,
    streams_with_usage,
    asks_for_metadata,
    completes_text,
    embeds,
    knows_its_errors,
    langchain_answers,
    langchain_streams,
    langchain_binds_tools,
    langchain_embeds,
]

for check in CHECKS:
    try:
        check()
        fault = None
    except Exception:
        fault = traceback.format_exc(limit=-3)
    print(json.dumps({"check": check.__name__, "fault": fault}), flush=True)
sys.exit(0)
