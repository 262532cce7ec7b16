"""Messages of real clients become messages of the service: words, roles, tool calls, and what is no text."""

import pytest

from core.events import message_shapes
from core.events.message_shapes import UnreadableMessage

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
CALL = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Porto"}'}}


def only(message, **options):
    (read,) = message_shapes.read(message, **options)
    return read


def brief(message):
    return [(read.role, read.text) for read in message_shapes.read(message)]


SAID = {
    "openai chat, text": ({"role": "user", "content": "I live in Porto."}, "user", "I live in Porto."),
    "openai chat, developer": ({"role": "developer", "content": "Be brief."}, "system", "Be brief."),
    "openai chat, parts": (
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "This is my dog Rex."},
                {"type": "image_url", "image_url": {"url": "https://example.org/rex.png", "detail": "auto"}},
                {"type": "text", "text": "He is three."},
            ],
        },
        "user",
        "This is my dog Rex.\nHe is three.",
    ),
    "openai chat, refusal": (
        {"role": "assistant", "content": None, "refusal": "I can't help with that.", "annotations": []},
        "assistant",
        "I can't help with that.",
    ),
    "openai chat, refusal part": (
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
        "assistant",
        "No.",
    ),
    "openai chat, spoken answer": (
        {
            "role": "assistant",
            "content": None,
            "audio": {"id": "audio_1", "data": PNG, "expires_at": 1, "transcript": "Hello Ada."},
        },
        "assistant",
        "Hello Ada.",
    ),
    "openai responses, input": (
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "I moved to Porto."}]},
        "user",
        "I moved to Porto.",
    ),
    "openai responses, output": (
        {
            "id": "msg_1",
            "type": "message",
            "status": "completed",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Noted.", "annotations": [], "logprobs": []}],
        },
        "assistant",
        "Noted.",
    ),
    "anthropic, thinking": (
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "She lives in Bern.", "signature": "EqQB"},
                {"type": "redacted_thinking", "data": "EmwK"},
                {"type": "text", "text": "Fine."},
            ],
        },
        "assistant",
        "Fine.",
    ),
    "gemini, user": ({"role": "user", "parts": [{"text": "I play the cello."}]}, "user", "I play the cello."),
    "gemini, model": (
        {"role": "model", "parts": [{"text": "Let me think.", "thought": True}, {"text": "Lovely."}]},
        "assistant",
        "Lovely.",
    ),
    "gemini, with every field of a part": (
        {"role": "model", "parts": [{"text": "Lovely.", "thought": None, "function_call": None, "inline_data": None}]},
        "assistant",
        "Lovely.",
    ),
    "gemini, candidate": (
        {"content": {"role": "model", "parts": [{"text": "Lovely."}]}, "finishReason": "STOP", "index": 0},
        "assistant",
        "Lovely.",
    ),
    "langchain, human": (
        {
            "content": "I live in Paris.",
            "additional_kwargs": {},
            "response_metadata": {},
            "type": "human",
            "name": None,
        },
        "user",
        "I live in Paris.",
    ),
    "langchain, ai chunk": ({"type": "AIMessageChunk", "content": "Hi."}, "assistant", "Hi."),
    "langchain, dict": (
        {"type": "human", "data": {"content": "I live in Paris.", "type": "human", "id": None, "example": False}},
        "user",
        "I live in Paris.",
    ),
    "langchain, constructor": (
        {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain", "schema", "messages", "AIMessage"],
            "kwargs": {"content": "Bonjour.", "type": "ai", "tool_calls": [], "invalid_tool_calls": []},
        },
        "assistant",
        "Bonjour.",
    ),
    "langchain, chat": ({"type": "chat", "data": {"role": "model", "content": "Hi."}}, "assistant", "Hi."),
    "ai sdk, parts": (
        {
            "id": "m1",
            "role": "user",
            "parts": [{"type": "step-start"}, {"type": "text", "text": "I am vegan.", "state": "done"}],
        },
        "user",
        "I am vegan.",
    ),
    "ai sdk, empty content beside parts": (
        {"role": "user", "content": "", "parts": [{"type": "text", "text": "I am vegan."}]},
        "user",
        "I am vegan.",
    ),
    "ai sdk, the same words twice": (
        {"role": "user", "content": "I am vegan.", "parts": [{"type": "text", "text": "I am vegan."}]},
        "user",
        "I am vegan.",
    ),
    "plain strings as parts": ({"role": "user", "content": ["One.", "Two."]}, "user", "One.\nTwo."),
    "one part": ({"role": "user", "content": {"type": "text", "text": "One."}}, "user", "One."),
    "nothing": ({"role": "user", "content": None}, "user", ""),
    "only a picture": (
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}]},
        "user",
        "",
    ),
}


@pytest.mark.parametrize("name", SAID)
def test_the_words_and_the_role_of_a_message_are_taken(name):
    message, role, text = SAID[name]
    assert brief(message) == [(role, text)]


@pytest.mark.parametrize(
    ("given", "role"),
    [
        ("User", "user"),
        ("HUMAN", "user"),
        ("ai", "assistant"),
        ("Model", "assistant"),
        ("bot", "assistant"),
        ("CHATBOT", "assistant"),
        ("developer", "system"),
        ("function", "tool"),
    ],
)
def test_roles_of_other_names_and_any_case_are_known(given, role):
    assert only({"role": given, "content": "x"}).role == role


@pytest.mark.parametrize(
    ("message", "pointer", "word"),
    [
        ({"role": "narrator", "content": "x"}, "/role", "narrator"),
        ({"role": 5, "content": "x"}, "/role", "user, assistant, system or tool"),
        ({"type": "remove", "content": ""}, "/type", "remove"),
        ({"content": "x"}, "/role", "required"),
        ({"role": "user"}, "/content", "required"),
        ({"role": "user", "content": 12}, "/content", "text"),
        ({"role": "user", "content": ["x", 12]}, "/content/1", "part"),
        ({"role": "user", "content": [{"type": "text", "text": {"a": 1}}]}, "/content/0/text", "text"),
        ({"role": "assistant", "tool_calls": "x"}, "/tool_calls", "list"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_place(message, pointer, word):
    with pytest.raises(UnreadableMessage) as refused:
        message_shapes.read(message)
    assert refused.value.pointer == pointer
    assert word in refused.value.reason


def test_a_message_without_a_role_has_that_of_its_door_but_a_type_counts_first():
    assert only({"content": "x"}, default_role="user").role == "user"
    assert only({"type": "ai", "content": "x"}, default_role="user").role == "assistant"


CALLS = {
    "openai chat": {"role": "assistant", "content": None, "tool_calls": [CALL]},
    "openai chat, no content": {"role": "assistant", "tool_calls": [CALL]},
    "openai responses": {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "call_1",
        "name": "get_weather",
        "arguments": '{"city": "Porto"}',
    },
    "anthropic": {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "call_1", "name": "get_weather", "input": {"city": "Porto"}}],
    },
    "langchain": {
        "type": "ai",
        "content": "",
        "tool_calls": [{"name": "get_weather", "args": {"city": "Porto"}, "id": "call_1", "type": "tool_call"}],
    },
    "langchain with anthropic's blocks": {
        "type": "ai",
        "content": [{"type": "tool_use", "id": "call_1", "name": "get_weather", "input": {"city": "Porto"}}],
        "tool_calls": [{"name": "get_weather", "args": {"city": "Porto"}, "id": "call_1", "type": "tool_call"}],
    },
    "langchain, older": {"type": "ai", "content": "", "additional_kwargs": {"tool_calls": [CALL]}},
    "ai sdk, model message": {
        "role": "assistant",
        "content": [
            {"type": "tool-call", "toolCallId": "call_1", "toolName": "get_weather", "input": {"city": "Porto"}}
        ],
    },
    "ai sdk, user interface": {
        "role": "assistant",
        "parts": [
            {
                "type": "tool-get_weather",
                "toolCallId": "call_1",
                "state": "input-available",
                "input": {"city": "Porto"},
            }
        ],
    },
    "ai sdk 4": {
        "role": "assistant",
        "content": "",
        "toolInvocations": [
            {"state": "call", "toolCallId": "call_1", "toolName": "get_weather", "args": {"city": "Porto"}}
        ],
    },
}


@pytest.mark.parametrize("name", CALLS)
def test_tool_calls_are_kept_in_one_form(name):
    read = only(CALLS[name])
    assert (read.role, read.text, read.tool_calls) == ("assistant", "", (CALL,))


def test_gemini_calls_without_an_id_and_the_old_function_call_are_kept():
    gemini = only({"role": "model", "parts": [{"functionCall": {"name": "get_weather", "args": {"city": "Porto"}}}]})
    assert gemini.tool_calls == ({"type": "function", "function": CALL["function"]},)
    older = only({"role": "assistant", "content": None, "function_call": CALL["function"]})
    assert older.tool_calls == ({"type": "function", "function": CALL["function"]},)


RESULTS = {
    "openai chat": {"role": "tool", "tool_call_id": "call_1", "content": "12 °C"},
    "openai chat, parts": {"role": "tool", "tool_call_id": "call_1", "content": [{"type": "text", "text": "12 °C"}]},
    "openai responses": {"type": "function_call_output", "call_id": "call_1", "output": "12 °C"},
    "openai responses, parts": {
        "type": "function_call_output",
        "call_id": "call_1",
        "output": [{"type": "input_text", "text": "12 °C"}],
    },
    "anthropic, text": {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "call_1", "content": "12 °C"}],
    },
    "anthropic, blocks": {
        "role": "user",
        "content": [
            {
                "type": "tool_result",
                "tool_use_id": "call_1",
                "is_error": False,
                "content": [{"type": "text", "text": "12 °C"}],
            }
        ],
    },
    "langchain": {"type": "tool", "content": "12 °C", "tool_call_id": "call_1", "status": "success"},
    "ai sdk, model message": {
        "role": "tool",
        "content": [
            {
                "type": "tool-result",
                "toolCallId": "call_1",
                "toolName": "get_weather",
                "output": {"type": "text", "value": "12 °C"},
            }
        ],
    },
}


@pytest.mark.parametrize("name", RESULTS)
def test_results_of_tools_are_messages_of_a_tool(name):
    read = only(RESULTS[name])
    assert (read.role, read.text, read.tool_call_id) == ("tool", "12 °C", "call_1")


def test_data_of_a_tool_is_written_as_json():
    gemini = only({"role": "user", "parts": [{"functionResponse": {"name": "get_weather", "response": {"temp": 12}}}]})
    assert (gemini.role, gemini.text, gemini.tool_name) == ("tool", '{"temp": 12}', "get_weather")
    assert only({"role": "function", "name": "get_weather", "content": {"temp": 12}}).text == '{"temp": 12}'
    assert only({"role": "tool", "content": [{"temp": 12}, {"temp": 13}]}).text == '[{"temp": 12}, {"temp": 13}]'


def test_results_beside_words_are_messages_of_their_own_before_the_question_and_after_the_call():
    question = {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "a", "content": "12 °C"},
            {"type": "tool_result", "tool_use_id": "b", "content": [{"type": "text", "text": "rain"}]},
            {"type": "text", "text": "And tomorrow?"},
        ],
    }
    assert brief(question) == [("tool", "12 °C"), ("tool", "rain"), ("user", "And tomorrow?")]
    answer = {
        "role": "assistant",
        "parts": [
            {"type": "text", "text": "I look it up."},
            {
                "type": "tool-get_weather",
                "toolCallId": "call_1",
                "state": "output-available",
                "input": {},
                "output": {"temp": 12},
            },
        ],
    }
    assert brief(answer) == [("assistant", "I look it up."), ("tool", '{"temp": 12}')]


@pytest.mark.parametrize(
    ("part", "described"),
    [
        (
            {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
            {"type": "image_url", "url": "https://example.org/a.png"},
        ),
        (
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
            {"type": "image_url", "bytes": 70},
        ),
        ({"type": "input_image", "image_url": "https://example.org/a.png"}, {"url": "https://example.org/a.png"}),
        ({"type": "input_audio", "input_audio": {"data": PNG, "format": "wav"}}, {"bytes": 70, "media_type": "wav"}),
        (
            {"type": "file", "file": {"filename": "cv.pdf", "file_data": f"data:application/pdf;base64,{PNG}"}},
            {"name": "cv.pdf", "bytes": 70},
        ),
        ({"type": "file", "file": {"file_id": "file-6F2ks"}}, {"url": "file-6F2ks"}),
        (
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
            {"media_type": "image/png", "bytes": 70},
        ),
        (
            {
                "type": "document",
                "title": "My CV",
                "source": {"type": "url", "url": "https://example.org/cv.pdf"},
            },
            {"name": "My CV", "url": "https://example.org/cv.pdf"},
        ),
        ({"inlineData": {"mimeType": "image/png", "data": PNG}}, {"type": "inline_data", "bytes": 70}),
        (
            {"fileData": {"mimeType": "video/mp4", "fileUri": "gs://bucket/a.mp4"}},
            {"type": "file_data", "media_type": "video/mp4", "url": "gs://bucket/a.mp4"},
        ),
        (
            {"type": "file", "mediaType": "image/png", "filename": "a.png", "url": f"data:image/png;base64,{PNG}"},
            {"name": "a.png", "media_type": "image/png", "bytes": 70},
        ),
        ({"type": "image", "image": PNG * 30, "mediaType": "image/png"}, {"media_type": "image/png"}),
        ({"type": "thinking", "thinking": "hmm", "signature": "x"}, {"type": "thinking"}),
        ({"type": "source-url", "sourceId": "1", "url": "https://example.org"}, {"url": "https://example.org"}),
    ],
)
def test_what_is_no_text_is_described_without_its_bytes(part, described):
    read = only({"role": "user", "content": [part, {"type": "text", "text": "Look."}]})
    assert read.text == "Look."
    assert described.items() <= read.parts[0].items()
    assert PNG not in str(read.parts)


def test_other_fields_of_a_message_are_kept_as_they_were():
    read = only({"role": "user", "content": [{"type": "text", "text": "x"}], "name": "Ada", "locale": "pt"})
    assert read.speaker == "Ada"
    assert read.extra == {"name": "Ada", "locale": "pt"}


def test_a_payload_in_the_services_own_form_is_returned_as_it_is():
    payload = {"session_id": "s", "user_id": "ada", "role": "user", "content": "x", "locale": "pt"}
    assert message_shapes.normalized(payload) is payload


def test_a_payload_keeps_its_own_fields_and_metadata_beside_what_is_read():
    payload = {
        "session_id": "s",
        "user_id": "ada",
        "type": "human",
        "data": {"content": [{"type": "text", "text": "x"}, {"type": "image", "url": "https://example.org/a.png"}]},
        "metadata": {"locale": "pt"},
    }
    assert message_shapes.normalized(payload) == {
        "session_id": "s",
        "user_id": "ada",
        "role": "user",
        "content": "x",
        "metadata": {
            "locale": "pt",
            "content_parts": [{"type": "image", "url": "https://example.org/a.png"}],
        },
    }


def test_one_payload_stays_one_message_with_the_results_of_tools_in_its_metadata():
    who = {"session_id": "s", "user_id": "ada", "role": "user"}
    results = [
        {"type": "tool_result", "tool_use_id": "a", "content": "12 °C"},
        {"type": "tool_result", "tool_use_id": "b", "content": "rain"},
    ]
    asked = message_shapes.normalized({**who, "content": [*results, {"type": "text", "text": "And tomorrow?"}]})
    assert (asked["role"], asked["content"]) == ("user", "And tomorrow?")
    assert asked["metadata"]["content_parts"] == [
        {"type": "tool_result", "id": "a", "text": "12 °C"},
        {"type": "tool_result", "id": "b", "text": "rain"},
    ]
    together = message_shapes.normalized({**who, "content": results})
    assert (together["role"], together["content"], together["tool_call_id"]) == ("tool", "12 °C\n\nrain", "a")


def test_the_content_of_a_tools_result_event_becomes_a_text():
    who = {"session_id": "s", "user_id": "ada"}
    assert message_shapes.normalized_result({**who, "content": {"temp": 12}})["content"] == '{"temp": 12}'
    assert message_shapes.normalized_result({**who, "content": [{"type": "text", "text": "x"}]})["content"] == "x"
    assert message_shapes.normalized_result({**who, "content": None})["content"] == ""
